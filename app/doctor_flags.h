// ockham doctor: its flags.
#pragma once

#include "app/flags.h"

namespace ockham::app {

struct DoctorFlags {
  CommonFlags common;
};

void declare_doctor(CLI::App& app, DoctorFlags& flags);

/// In the engine (doctor.cpp).
int run_doctor(const DoctorFlags& flags);

}  // namespace ockham::app
