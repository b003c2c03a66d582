// The door: everything a program needs to estimate, maximise and use the evidence. For torch::nn modules also include
// ockham/network/module_network.h.
#pragma once

#include "ockham/base/environment.h"
#include "ockham/base/error.h"
#include "ockham/base/memory.h"
#include "ockham/base/platform.h"
#include "ockham/base/random.h"
#include "ockham/curvature/estimate_curvature.h"
#include "ockham/curvature/jacobian.h"
#include "ockham/data/dataset.h"
#include "ockham/data/npy.h"
#include "ockham/evidence/evidence.h"
#include "ockham/evidence/laplace_fit.h"
#include "ockham/evidence/optimise_hyperparameters.h"
#include "ockham/network/network.h"
#include "ockham/network/torchscript.h"
#include "ockham/predict/linearised.h"
#include "ockham/predict/posterior.h"
#include "ockham/probability/likelihood.h"
#include "ockham/probability/prior.h"
#include "ockham/train/train_online.h"
