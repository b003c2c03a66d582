// Gloo's part of c10d's headers is behind this, which libtorch's own CMake files may define already.
#ifndef USE_C10D_GLOO
#define USE_C10D_GLOO
#endif

#include "ockham/distributed/gloo.h"

#include <ATen/ATen.h>
#include <arpa/inet.h>
#include <c10/util/Logging.h>
#include <fmt/format.h>
#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <torch/csrc/distributed/c10d/FileStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>

#include "ockham/base/error.h"

namespace ockham {
namespace {

std::string first_line(const char* text) {
  const std::string message = text;
  return message.substr(0, message.find('\n'));
}

/// The address of this machine from which that host is reached: the network that the ranks share. A machine's own name
/// is often that of the loopback.
std::string own_address_towards(const std::string& host, int port) {
  addrinfo hints{}, *found = nullptr;
  hints.ai_socktype = SOCK_DGRAM;  // connecting it sends nothing
  if (::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found) != 0 || found == nullptr)
    throw Error(ErrorKind::failure,
                fmt::format("The address '{}' of rank 0 is not known here; check MASTER_ADDR.", host));
  std::string address;
  for (const addrinfo* one = found; one != nullptr && address.empty(); one = one->ai_next) {
    const int descriptor = ::socket(one->ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (descriptor < 0) continue;
    sockaddr_storage own{};
    socklen_t length = sizeof own;
    char text[NI_MAXHOST];
    if (::connect(descriptor, one->ai_addr, one->ai_addrlen) == 0 &&
        ::getsockname(descriptor, reinterpret_cast<sockaddr*>(&own), &length) == 0 &&
        ::getnameinfo(reinterpret_cast<sockaddr*>(&own), length, text, sizeof text, nullptr, 0, NI_NUMERICHOST) == 0)
      address = text;
    ::close(descriptor);
  }
  ::freeaddrinfo(found);
  if (address.empty())
    throw Error(ErrorKind::failure, fmt::format("There is no route to the address '{}' of rank 0.", host));
  return address;
}

/// c10d writes a line for every attempt to connect; that it failed is said once, by the error.
class SilentConnecting {
 public:
  SilentConnecting() { FLAGS_caffe2_log_level = 3; }  // nothing but what ends the program
  ~SilentConnecting() { FLAGS_caffe2_log_level = before_; }
  SilentConnecting(const SilentConnecting&) = delete;
  SilentConnecting& operator=(const SilentConnecting&) = delete;

 private:
  const int before_ = FLAGS_caffe2_log_level;
};

c10::intrusive_ptr<c10d::Store> open_store(const RankIdentity& identity, std::chrono::milliseconds timeout) {
  if (!identity.file.empty()) {
    auto store = c10::make_intrusive<c10d::FileStore>(identity.file, static_cast<int>(identity.size));
    store->setTimeout(timeout);
    return store;
  }
  c10d::TCPStoreOptions options;
  options.port = static_cast<uint16_t>(identity.port);
  options.isServer = identity.rank == 0;
  options.numWorkers = static_cast<size_t>(identity.size);
  options.timeout = timeout;
  const SilentConnecting silent;
  return c10::make_intrusive<c10d::TCPStore>(identity.address, options);
}

class GlooCommunicator : public Communicator {
 public:
  GlooCommunicator(const RankIdentity& identity, double timeout)
      : rank_(identity.rank), size_(identity.size), timeout_(timeout), store_(open_store(identity, milliseconds())) {
    auto options = c10d::ProcessGroupGloo::Options::create(milliseconds());
    options->threads = 1;
    const char* interface = std::getenv("GLOO_SOCKET_IFNAME");
    if (!identity.file.empty())
      options->devices.push_back(c10d::ProcessGroupGloo::createDeviceForHostname("127.0.0.1"));
    else if (interface != nullptr && *interface != '\0')
      options->devices.push_back(c10d::ProcessGroupGloo::createDeviceForInterface(interface));
    else
      options->devices.push_back(
          c10d::ProcessGroupGloo::createDeviceForHostname(own_address_towards(identity.address, identity.port)));
    group_ =
        c10::make_intrusive<c10d::ProcessGroupGloo>(store_, static_cast<int>(rank_), static_cast<int>(size_), options);
    // Who is done soon must not leave while others still connect.
    at::Tensor arrived = at::ones({1}, at::kLong);
    std::vector<at::Tensor> tensors = {arrived};
    group_->allreduce(tensors)->wait();
  }

  int64_t rank() const override { return rank_; }
  int64_t size() const override { return size_; }

  void all_reduce_sum(at::Tensor& tensor) override {
    std::vector<at::Tensor> tensors = {checked(tensor)};
    guarded([&] { group_->allreduce(tensors)->wait(); });
  }

  void broadcast(at::Tensor& tensor, int64_t root) override {
    std::vector<at::Tensor> tensors = {checked(tensor)};
    c10d::BroadcastOptions options;
    options.rootRank = static_cast<int>(root);
    guarded([&] { group_->broadcast(tensors, options)->wait(); });
  }

  int64_t add(const std::string& counter, int64_t value) override {
    int64_t sum = 0;
    guarded([&] { sum = store_->add(counter, value); });
    return sum;
  }

 private:
  std::chrono::milliseconds milliseconds() const {
    return std::chrono::milliseconds(static_cast<int64_t>(1000 * timeout_));
  }

  static const at::Tensor& checked(const at::Tensor& tensor) {
    if (!tensor.is_contiguous() || !tensor.device().is_cpu())
      throw Error(ErrorKind::usage, "Ranks exchange contiguous tensors in the memory of the CPU.");
    return tensor;
  }

  template <class Work>
  void guarded(const Work& work) const {
    try {
      work();
    } catch (const Error&) {
      throw;
    } catch (const std::exception& error) {
      const std::string reason = first_line(error.what());
      const bool late = reason.find("imed out") != std::string::npos || reason.find("imeout") != std::string::npos;
      throw Error(ErrorKind::peer_lost,
                  late ? fmt::format("another of the {} ranks did not answer for {:g} s", size_, timeout_)
                       : fmt::format("another of the {} ranks is gone", size_));
    }
  }

  int64_t rank_, size_;
  double timeout_;
  c10::intrusive_ptr<c10d::Store> store_;
  c10::intrusive_ptr<c10d::ProcessGroupGloo> group_;
};

}  // namespace

std::unique_ptr<Communicator> connect_gloo(const RankIdentity& identity, double timeout) {
  try {
    return std::make_unique<GlooCommunicator>(identity, timeout);
  } catch (const Error&) {
    throw;
  } catch (const std::exception& error) {
    throw Error(ErrorKind::peer_lost,
                fmt::format("rank {} of {} did not find the others{} within {:g} s ({}); start all of them, and see "
                            "that they reach each other",
                            identity.rank, identity.size,
                            identity.file.empty() ? fmt::format(" at {}:{}", identity.address, identity.port) : "",
                            timeout, first_line(error.what())));
  }
}

}  // namespace ockham
