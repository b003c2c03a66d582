"""What the crash tests run: small jobs of the tool, their data, and what of their results must not depend on a crash."""
import json
import os
import random
import re
import struct
import zlib

PARTIAL = re.compile(r"^\.ockham-.*\.partial$")
BEGUN = ".ockham-begun"


def make_table(path, rows=60, seed=1):
    """x1, x2 and a target that a small network can learn."""
    numbers = random.Random(seed)
    with open(path, "w") as file:
        file.write("x1,x2,y\n")
        for _ in range(rows):
            a, b = numbers.gauss(0, 1), numbers.gauss(0, 1)
            file.write(f"{a:.5f},{b:.5f},{a * a - b + numbers.gauss(0, 0.1):.5f}\n")


def make_images(directory, count=48, side=8, classes=3, seed=2):
    """Images and labels as IDX files: a bright row whose place is the class."""
    numbers = random.Random(seed)
    os.makedirs(directory)
    for part, size in (("train", count), ("t10k", count // 3)):
        pixels, labels = bytearray(), bytearray()
        for i in range(size):
            label = i % classes
            labels.append(label)
            for row in range(side):
                for _ in range(side):
                    pixels.append(min(255, numbers.randrange(60) + (150 if row == 2 * label + 1 else 0)))
        with open(os.path.join(directory, f"{part}-images-idx3-ubyte"), "wb") as file:
            file.write(struct.pack(">IIII", 0x803, size, side, side) + pixels)
        with open(os.path.join(directory, f"{part}-labels-idx1-ubyte"), "wb") as file:
            file.write(struct.pack(">II", 0x801, size) + labels)


class Case:
    """A job, and how it goes on after a crash. It runs in a directory of its own; `place` is what it writes to there."""

    def __init__(self, name, arguments, place, prepare=None, resume=None):
        self.name, self.arguments, self.place = name, arguments, place
        self.prepare = prepare or (lambda directory: None)
        self.resume = resume

    def go_on(self, directory):
        """The command that continues what a crash left."""
        if self.resume and os.path.exists(os.path.join(directory, self.place, "format.json")):
            return self.resume
        return self.arguments


def fit_cases(data, epochs=1500, restarts=2, suffix=""):
    """`ockham fit` of tables and images, one and many candidates, one and two at once."""
    table = ["fit", os.path.join(data, "table.csv"), "--target", "y", "--test-fraction", "0.2", "--frequency", "50"]
    images = ["fit", os.path.join(data, "images"), "--frequency", "10", "--batch-size", "16"]
    ending = ["--seed", "3", "--threads", "1", "--checkpoint-interval", "0.05", "--out", "run", "--quiet"]
    few = ["--network", "linear", "--network", "mlp:8", "--network", "mlp:6-6,act=tanh"]
    several = few + ["--restarts", str(restarts)]
    convolutions = ["--network", "cnn:width=2,depth=1", "--network", "mlp:6"]
    resume = ["fit", "--resume", "--out", "run", "--quiet"]
    kinds = [("table-one", table + ["--epochs", str(epochs), "--network", "mlp:8"]),
             ("table-many-1", table + ["--epochs", str(epochs // 3), "--workers", "1"] + several),
             ("table-many-2", table + ["--epochs", str(epochs // 3), "--workers", "2"] + several),
             ("table-eliminate", table + ["--epochs", str(epochs // 3), "--eliminate"] + several),
             ("images-one", images + ["--epochs", str(epochs // 50), "--learn-temperature"] + convolutions[:2]),
             ("images-many", images + ["--epochs", str(epochs // 75), "--workers", "2", "--augment", "crop-flip",
                                       "--optimizer", "sgd", "--lr", "0.01"] + convolutions)]
    return [Case(name + suffix, arguments + ending, "run", resume=resume) for name, arguments in kinds]


def file_cases(finished_run, data):
    """`predict` and `export` over an older file of the same name."""
    def older(directory):
        os.mkdir(os.path.join(directory, "out"))
        for name in ("predictions.csv", "model.pt"):
            with open(os.path.join(directory, "out", name), "w") as file:
                file.write("older")

    predict = ["predict", finished_run, os.path.join(data, "table.csv"), "--out", "out/predictions.csv", "--quiet"]
    export = ["export", finished_run, "--to", "out/model.pt", "--overwrite"]
    return [Case("predict", predict, "out", older), Case("export", export, "out", older)]


def make_toy(directory):
    """The file that `ockham paper toy-regression` reads, with another curve."""
    os.makedirs(directory)
    with open(os.path.join(directory, "snelson_modified_knots.csv"), "w") as file:
        file.write("x,f\n" + "".join(f"{i / 2},{(i / 2) ** 3 / 50 - i / 4:.12f}\n" for i in range(13)))


def paper_case(data):
    return Case("paper", ["paper", "toy-regression", "--quick", "--only", "depth", "--epochs", "20", "--workers", "2",
                          "--data", os.path.join(data, "toy"), "--out", "out", "--quiet"], "out")


def without_times(value):
    if isinstance(value, dict):
        return {key: without_times(item) for key, item in value.items()
                if not key.startswith("seconds") and key != "when"}
    return [without_times(item) for item in value] if isinstance(value, list) else value


def plain_page(text):
    """A page without its date and durations, which also stand in sentences and pictures."""
    text = re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d UTC", "DATE", text)
    return re.sub(r"\d+(\.\d+)?(e-?\d+)? ?(ms|s|min|h)\b", "TIME", text)


def content(path):
    """What of a file may not depend on a crash."""
    with open(path, "rb") as file:
        data = file.read()
    name = os.path.basename(path)
    if name.endswith(".json"):
        return without_times(json.loads(data))
    if name == "metrics.jsonl":  # in the order in which the workers came to write
        return sorted(data.split(b"\n"))
    return data


def files_of(directory):
    found = []
    for parent, _, names in os.walk(directory):
        found += [os.path.relpath(os.path.join(parent, name), directory) for name in names]
    return sorted(found)


# The lock stays: whoever removed it could take it from somebody who waits for it. Pages are compared by their data.
UNCOMPARED = re.compile(r"(^|/)\.lock$|\.html$|\.md$")


def results(directory):
    """Everything in a directory that counts: name -> content."""
    return {name: content(os.path.join(directory, name)) for name in files_of(directory) if not UNCOMPARED.search(name)}


def damage(directory):
    """What a reader would find broken in a directory that a process was killed in: a list of sentences."""
    found = []
    for name in files_of(directory):
        path, base = os.path.join(directory, name), os.path.basename(name)
        if PARTIAL.match(base) or base in (".lock", BEGUN, "metrics.jsonl"):  # the last is begun anew by every session
            continue
        with open(path, "rb") as file:
            data = file.read()
        if base.endswith(".json"):
            try:
                json.loads(data)
            except ValueError:
                found.append(f"{name} is no JSON")
        elif base.endswith((".safetensors", ".checkpoint")):
            found += [f"{name}: {sentence}" for sentence in tensor_damage(data)]
        elif base.endswith(".html") and not data.rstrip().endswith(b"</html>"):
            found.append(f"{name} is cut")
        elif base.endswith((".csv", ".toml")) and data != b"older" and not data.endswith(b"\n"):
            found.append(f"{name} is cut")
        elif base.endswith(".pt") and data != b"older" and b"PK\x05\x06" not in data[-100:]:
            found.append(f"{name} is cut")
    return found


def tensor_damage(data):
    if len(data) < 8:
        return ["shorter than its header"]
    length = struct.unpack("<Q", data[:8])[0]
    try:
        header = json.loads(data[8:8 + length])
    except ValueError:
        return ["its header is no JSON"]
    metadata = header.pop("__metadata__", {})
    end = max((entry["data_offsets"][1] for entry in header.values()), default=0)
    if 8 + length + end != len(data):
        return [f"{len(data)} bytes instead of {8 + length + end}"]
    if "crc32" not in metadata:
        return []
    check = 0
    for name in sorted(header):
        begin, stop = header[name]["data_offsets"]
        check = zlib.crc32(name.encode(), check)
        check = zlib.crc32(data[8 + length + begin:8 + length + stop], check)
    return [] if f"{check:08x}" == metadata["crc32"] else ["its checksum is wrong"]
