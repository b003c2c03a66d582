"""Times laplace-torch on the networks of ockham-bench: a curvature pass against a training epoch, in one process.

Run by scripts/compare-peer with the Python that has the peer; only the peer's public interface is used. Prints one JSON
object for each measurement. Exit code 3: something cannot be imported; the JSON object says what.
"""
import argparse
import copy
import importlib
import json
import statistics
import sys
import time

try:
    import torch
    from torch import nn
    import laplace
    from laplace import Laplace
except Exception as error:  # whatever a broken installation raises
    print(json.dumps({"missing": f"{type(error).__name__}: {error}".splitlines()[0]}))
    sys.exit(3)

# Names of the backends in the versions 0.1 and 0.2 and later; those that are not there are left out.
BACKENDS = {
    "BackPACK": ("backpack", {"ef": "BackPackEF", "ggn": "BackPackGGN"}),
    "asdfghjkl": ("asdfghjkl", {"ef": "AsdfghjklEF", "ggn": "AsdfghjklGGN"}),
    "asdl": ("asdl", {"ef": "AsdlEF", "ggn": "AsdlGGN"}),  # asdfghjkl in version 0.1
    "Curvlinops": ("curvlinops", {"ef": "CurvlinopsEF", "ggn": "CurvlinopsGGN"}),
}
SMALL_TABLES = {"boston": (455, 13), "energy": (691, 8)}


def find_backends(curvature):
    found = {}
    kind = "ggn" if curvature == "mc" else curvature
    for name, (module, classes) in BACKENDS.items():
        for place in ("laplace.curvature", f"laplace.curvature.{module}"):
            try:
                found[name] = getattr(importlib.import_module(place), classes[kind])
                break
            except Exception:  # not in this version, or what it needs is not installed
                continue
    return found


# --- networks, as in ockham/network ------------------------------------------------------------------------------------

def pool(size):
    """Width 3, stride 2, rounded up; after a ReLU zeros around change no maximum."""
    padding = (1, 1, 1, 1) if size % 2 else (0, 1, 0, 1)
    return [nn.ZeroPad2d(padding), nn.MaxPool2d(3, 2)], (size + 1) // 2


def make_mlp(inputs, hidden, outputs):
    layers, width = [], inputs
    for size in hidden:
        layers += [nn.Linear(width, size), nn.ReLU()]
        width = size
    return nn.Sequential(*layers, nn.Linear(width, outputs))


def make_3c3d(channels, size, outputs):
    layers = []
    for before, after, kernel, padding in ((channels, 64, 5, 0), (64, 96, 3, 0), (96, 128, 3, 1)):
        pooling, size = pool(size - kernel + 1 + 2 * padding)
        layers += [nn.Conv2d(before, after, kernel, padding=padding), nn.ReLU(), *pooling]
    return nn.Sequential(*layers, nn.Flatten(), nn.Linear(128 * size * size, 512), nn.ReLU(), nn.Linear(512, 256), nn.ReLU(),
                         nn.Linear(256, outputs))


class PlainBias(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(1))

    def forward(self, x):
        return x + self.weight


class PlainScale(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(1))

    def forward(self, x):
        return x * self.weight


def scalar_modules():
    """A backend knows the scalars of Fixup only by classes of its own, where it has them."""
    for place in ("asdfghjkl.operations", "asdl.operations"):
        try:
            module = importlib.import_module(place)
            return module.Bias, module.Scale
        except Exception:
            continue
    return PlainBias, PlainScale


class FixupBlock(nn.Module):
    def __init__(self, before, after, bias, scale):
        super().__init__()
        self.stride = 1 if before == after else 2
        self.bias1a, self.bias1b, self.bias2a, self.bias2b, self.scale = bias(), bias(), bias(), bias(), scale()
        self.conv1 = nn.Conv2d(before, after, 3, self.stride, 1, bias=False)
        self.conv2 = nn.Conv2d(after, after, 3, 1, 1, bias=False)
        self.relu1, self.relu2 = nn.ReLU(), nn.ReLU()

    def forward(self, x):
        shifted = self.bias1a(x)
        shortcut = x
        if self.stride > 1:
            shortcut = shifted[:, :, ::2, ::2]
            shortcut = torch.cat([shortcut, torch.zeros_like(shortcut)], 1)
        inner = self.relu1(self.bias1b(self.conv1(shifted)))
        return self.relu2(self.bias2b(self.scale(self.conv2(self.bias2a(inner)))) + shortcut)


class FixupResNet20(nn.Module):
    def __init__(self, outputs):
        super().__init__()
        bias, scale = scalar_modules()
        self.conv, self.bias1, self.relu = nn.Conv2d(3, 16, 3, 1, 1, bias=False), bias(), nn.ReLU()
        widths = [16] * 4 + [32] * 3 + [64] * 3
        self.blocks = nn.Sequential(*[FixupBlock(a, b, bias, scale) for a, b in zip(widths, widths[1:])])
        self.bias2, self.output = bias(), nn.Linear(64, outputs)

    def forward(self, x):
        x = self.blocks(self.relu(self.bias1(self.conv(x))))
        return self.output(self.bias2(x.mean((2, 3))))


NETWORKS = {
    "mlp": ((784,), lambda: make_mlp(784, (1024, 512, 256, 128), 10)),
    "3c3d-28": ((1, 28, 28), lambda: make_3c3d(1, 28, 10)),
    "3c3d-32": ((3, 32, 32), lambda: make_3c3d(3, 32, 10)),
    "resnet": ((3, 32, 32), lambda: FixupResNet20(10)),
}


class Loader:
    """What a fit asks of a DataLoader, without the time that collecting examples takes."""

    def __init__(self, inputs, targets, batch):
        self.dataset, self.batch_size, self.sampler = torch.utils.data.TensorDataset(inputs, targets), batch, None
        self.batches = list(zip(inputs.split(batch), targets.split(batch)))

    def __iter__(self):
        return iter(self.batches)

    def __len__(self):
        return len(self.batches)


# --- measuring ---------------------------------------------------------------------------------------------------------

def seconds_of(work):
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def train_epoch(model, optimiser, loader, loss):
    for inputs, targets in loader:
        optimiser.zero_grad()
        loss(model(inputs), targets).backward()
        optimiser.step()


def make_laplace(model, likelihood, structure, curvature, backend, **rest):
    if curvature == "mc":
        rest["backend_kwargs"] = {"stochastic": True}
    return Laplace(model, likelihood, subset_of_weights="all", hessian_structure=structure, backend=backend, **rest)


def decomposition_seconds(fitted):
    """A Kronecker fit ends with eigendecompositions, which ockham-bench counts apart."""
    factors = getattr(fitted, "H_facs", None)
    return seconds_of(factors.decompose) if hasattr(factors, "decompose") else 0.0


def hyper_step_seconds(fitted, model, steps):
    log_precision = torch.zeros(len(list(model.parameters())), requires_grad=True)
    optimiser = torch.optim.Adam([log_precision], lr=0.1)

    def climb():
        for _ in range(steps):
            optimiser.zero_grad()
            (-fitted.log_marginal_likelihood(log_precision.exp())).backward()
            optimiser.step()

    return seconds_of(climb) / steps


def measure_backend(options, structure, curvature, backend):
    shape, make = NETWORKS[options.network]
    torch.manual_seed(0)
    loader = Loader(torch.randn(options.samples, *shape), torch.randint(10, (options.samples,)), options.batch)
    trained = make()
    observed = copy.deepcopy(trained)  # a backend may leave hooks in its model, which training should not pay for
    optimiser = torch.optim.Adam(trained.parameters(), lr=1e-3, weight_decay=1 / options.samples)
    loss = nn.CrossEntropyLoss()

    def fit():
        fitted = make_laplace(observed, "classification", structure, curvature, backend)
        return fitted, seconds_of(lambda: fitted.fit(loader))

    train_epoch(trained, optimiser, loader, loss)
    fit()
    training, passes, ratios = [], [], []
    for _ in range(options.repetitions):
        training.append(seconds_of(lambda: train_epoch(trained, optimiser, loader, loss)))
        fitted, seconds = fit()
        passes.append(max(seconds - decomposition_seconds(fitted), 1e-9))
        ratios.append(passes[-1] / training[-1])
    return {"seconds_train_epoch": statistics.median(training), "seconds_curvature": statistics.median(passes),
            "ratio": statistics.median(ratios), "parameters": sum(p.numel() for p in trained.parameters()),
            "seconds_per_hyper_step": hyper_step_seconds(fitted, observed, options.hyper_steps)}


def measure_online(options, structure, curvature, backend):
    """The online loop with an estimate and one hyperparameter step an epoch; the median epoch."""
    examples, inputs = SMALL_TABLES[options.network]
    torch.manual_seed(0)
    x = torch.randn(examples, inputs)
    y = x.sin().sum(1, keepdim=True) + 0.1 * torch.randn(examples, 1)
    loader, model = Loader(x, y, examples), make_mlp(inputs, (50,), 1)
    groups = list(model.parameters())
    log_precision = torch.zeros(len(groups), requires_grad=True)
    log_noise = torch.zeros(1, requires_grad=True)
    optimiser = torch.optim.Adam(groups, lr=1e-2)
    hyper_optimiser = torch.optim.Adam([log_precision, log_noise], lr=1e-2)

    def epoch():
        precision, noise = log_precision.detach().exp(), log_noise.detach().exp()
        optimiser.zero_grad()
        penalty = sum(0.5 * d * p.square().sum() for d, p in zip(precision, groups))
        (0.5 * (model(x) - y).square().sum() / noise**2 + penalty).div(examples).sum().backward()
        optimiser.step()
        fitted = make_laplace(model, "regression", structure, curvature, backend, sigma_noise=noise, prior_precision=precision)
        fitted.fit(loader)
        hyper_optimiser.zero_grad()
        (-fitted.log_marginal_likelihood(log_precision.exp(), log_noise.exp())).sum().backward()
        hyper_optimiser.step()

    for _ in range(3):
        epoch()
    return {"seconds_epoch": statistics.median(seconds_of(epoch) for _ in range(options.epochs))}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="say which versions and backends there are")
    parser.add_argument("--network", choices=list(NETWORKS) + list(SMALL_TABLES))
    parser.add_argument("--structure", choices=["diag", "kron", "full"])
    parser.add_argument("--curvature", choices=["ef", "ggn", "mc"])
    parser.add_argument("--samples", type=int, default=256)
    parser.add_argument("--batch", type=int, default=128)
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--hyper-steps", type=int, default=100)
    parser.add_argument("--epochs", type=int, default=50)
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    if options.check:
        print(json.dumps({"torch": torch.__version__, "laplace": getattr(laplace, "__version__", "unknown"),
                          "backends": sorted(set(find_backends("ef")) | set(find_backends("ggn")))}))
        return
    torch.set_num_threads(options.threads)
    measure = measure_online if options.network in SMALL_TABLES else measure_backend
    for name, backend in find_backends(options.curvature).items():
        try:
            result = measure(options, options.structure, options.curvature, backend)
        except Exception as error:  # a backend that cannot do this says so in its own way
            lines = str(error).strip().splitlines()
            result = {"reason": f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__}
        print(json.dumps(dict(result, backend=name)), flush=True)


if __name__ == "__main__":
    main()
