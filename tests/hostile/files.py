"""Files that were cut, changed, blown up or written to do harm: `load` ends with torch's kind of error.

    python tests/hostile/files.py --trials 100000 --seed 1      prints tried / failed, and how each failed

No file may crash the process, take longer than a second, take more memory than a small multiple of its bytes, or have
anything called that it contains.
"""

from __future__ import annotations

import argparse
import io
import pickle
import random
import sys
import time
import tracemalloc
import zipfile
from collections import Counter, OrderedDict
from typing import Any

import tinytorch

ALLOWED = (
    pickle.UnpicklingError,
    RuntimeError,
    OSError,
    EOFError,
)  # RecursionError is one of RuntimeError's
SECONDS, MEMORY = 1.0, 20_000_000  # of a file of some thousand bytes
CALLED: list[str] = []  # what a file had called


def victim(*_: Any) -> str:
    """What a hostile file names in the hope that it is called."""
    CALLED.append("victim")
    return "called"


def good() -> bytes:
    """A file of all that files may hold."""
    a = tinytorch.arange(6.0)
    net = tinytorch.nn.Linear(3, 2)
    parameter: Any = tinytorch.nn.Parameter(tinytorch.ones(2))
    parameter.note = "kept"
    file = io.BytesIO()
    rest = [
        tinytorch.float32,
        tinytorch.Size([2]),
        tinytorch.device("cpu"),
        {1, 2},
        b"ab",
        1j,
        None,
        2.5,
        -(2**70),
    ]
    tinytorch.save(
        OrderedDict(a=a, view=a[2:], net=net.state_dict(), parameter=parameter, rest=rest), file
    )
    return file.getvalue()


def repacked(raw: bytes, method: int = zipfile.ZIP_STORED, **parts: bytes) -> bytes:
    """The archive with other parts; `data_pkl` stands for `data.pkl`, None for no such part."""
    out, source = io.BytesIO(), zipfile.ZipFile(io.BytesIO(raw))
    with zipfile.ZipFile(out, "w", method) as archive:
        for name in source.namelist():
            content = parts.get(
                name.partition("/")[2].replace(".", "_").replace("/", "_"), source.read(name)
            )
            if content is not None:
                archive.writestr(name, content)
    return out.getvalue()


def _calling(module: str, name: str, args: bytes = b")") -> bytes:
    return f"c{module}\n{name}\n".encode() + args + b"R"


def crafted(raw: bytes) -> dict[str, bytes]:
    """Files written to do harm, by what they try."""
    doubling = (
        b"\x80\x02" + b"N\x85q\x00" + b"".join(b"h%ch%c\x86q%c" % (i, i, i + 1) for i in range(60))
    )
    deep = b"\x80\x02)" + b"\x85" * 200_000
    long = b"X" + (9_000_000).to_bytes(4, "little") + b"a" * 9_000_000
    named = _calling("torch._utils", "_rebuild_tensor_v2", b"(")[:-1]
    programs = {
        "calls": b"\x80\x02" + _calling(__name__, "victim") + b".",
        "calls by INST": b"(i" + __name__.encode() + b"\nvictim\n.",
        "calls by OBJ": b"(c" + __name__.encode() + b"\nvictim\no.",
        "calls by a tensor's maker": b"\x80\x02ctorch._tensor\n_rebuild_from_type_v2\n(c" + __name__.encode()
        + b"\nvictim\nctorch\nTensor\n)}tR.",
        "makes a tensor by name": b"\x80\x02ctorch\nTensor\nJ\x00\x00\x00\x7f\x85R.",
        "makes one by its type": b"\x80\x02ctorch._tensor\n_rebuild_from_type_v2\n(ctorch\nTensor\nctorch\nTensor\n"
        b"J\x00\x00\x00\x7f\x85}tR.",
        "bytes by number": b"\x80\x02c__builtin__\nbytearray\nJ\x00\x00\x00\x7f\x85R.",
        "bytes by NEWOBJ": b"\x80\x02c__builtin__\nbytearray\nJ\x00\x00\x00\x7f\x85\x81.",
        "changes a class": b"\x80\x02ctorch\nTensor\nN}X\x03\x00\x00\x00addK\x05s\x86b.",
        "changes a function": b"\x80\x02ctorch._utils\n_rebuild_tensor_v2\nN}X\x0c\x00\x00\x00__defaults__Ns\x86b.",
        "a memo of four billion": b"\x80\x02Nr\xff\xff\xff\xff.",
        "a string of four billion": b"\x80\x02X\xff\xff\xff\xffab.",
        "bytes of four billion": b"\x80\x04\x8e\xff\xff\xff\xff\x00\x00\x00\x00ab.",
        "a key of 2^60 tuples": doubling + b"}h\x3cNs.",
        "a set of 2^60 tuples": doubling + b"c__builtin__\nset\n]h\x3ca\x85R.",
        "a device of 2^60 tuples": doubling + b"ctorch\ndevice\nh\x3c\x85R.",
        "a storage of 2^60 tuples": doubling + b"(X\x07\x00\x00\x00storageh\x3ch\x3ch\x3ch\x3ctQ.",
        "a key 200,000 deep": deep + b"q\x00}h\x00Ns.",
        "lists 200,000 deep": b"\x80\x02" + b"]" * 200_000 + b"a" * 199_999 + b".",
        "another encoding": b"\x80\x02" + _calling("_codecs", "encode", long + b"X\x04\x00\x00\x00idna\x86") + b".",
        "a number of many digits": b"L" + b"9" * 200_000 + b"L\n.",
        "numbers for a tensor": b"\x80\x02" + named + b"K\x01K\x02K\x03K\x04K\x05tR.",
        "nothing": b"", "no end": b"\x80\x02]", "an empty stack": b"\x80\x02.", "an unknown memo": b"\x80\x02h\x05.",
    }  # fmt: skip
    pickled = zipfile.ZipFile(io.BytesIO(raw)).read("archive/data.pkl")
    wrong = (b"K\x07\x85", b"J\xff\xff\xff\xff\x85", b"\x8a\x09" + b"\xff" * 8 + b"\x00\x85")
    sizes = {f"size {n!r}": pickled.replace(b"K\x06\x85", n) for n in wrong}
    files = {name: repacked(raw, data_pkl=program) for name, program in (programs | sizes).items()}
    noughts = bytes(200_000_000)
    for method in (zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA):
        files[f"200 MB of noughts, method {method}"] = repacked(raw, method, data_0=noughts)
        files[f"a pickle of noughts, method {method}"] = repacked(raw, method, data_pkl=noughts)
    files["no storage"] = repacked(raw, data_0=None)  # type: ignore[arg-type]
    files["no pickle"] = repacked(raw, data_pkl=None)  # type: ignore[arg-type]
    files["one part for many"] = _overlapping(repacked(raw, data_0=bytes(2_000_000)))
    empty = io.BytesIO()
    zipfile.ZipFile(empty, "w").close()
    return files | {"an empty archive": empty.getvalue(), "no bytes": b"", "text": b"text"}


def _overlapping(raw: bytes) -> bytes:
    """An archive whose list names one part a hundred times."""
    source = zipfile.ZipFile(io.BytesIO(raw))
    listed = raw[source.start_dir : raw.rindex(b"PK\x05\x06")]
    more = listed + b"".join(
        one.replace(b"archive/data/0", b"archive/data/%c" % k)
        for k in range(65, 91)
        for one in [
            b"PK\x01\x02" + p for p in listed.split(b"PK\x01\x02") if b"archive/data/0" in p
        ]
    )
    end = raw[raw.rindex(b"PK\x05\x06") :]
    count = more.count(b"PK\x01\x02").to_bytes(2, "little")
    return (
        raw[: source.start_dir]
        + more
        + end[:8]
        + count * 2
        + len(more).to_bytes(4, "little")
        + end[16:]
    )


def changed(raw: bytes, rng: random.Random) -> bytes:
    """The file cut, with bytes or bits changed, or with a piece taken out, doubled or put elsewhere."""
    content = bytearray(raw)
    pickled = zipfile.ZipFile(io.BytesIO(raw)).read("archive/data.pkl")
    inside = rng.random() < 0.6
    if inside:  # where a sum is stored beside, most changes would end at the sum
        content = bytearray(pickled)
    for _ in range(rng.choice((1, 1, 2, 5))):
        at, to = rng.randrange(len(content)), rng.randrange(len(content))
        way = rng.randrange(5)
        if way == 0:
            content[at] ^= 1 << rng.randrange(8)
        elif way == 1:
            content[at] = rng.randrange(256)
        elif way == 2:
            del content[at : at + rng.choice((1, 4, 100))]
        elif way == 3:
            content[at:at] = content[to : to + rng.choice((1, 4, 100))]
        elif len(content) > 10:
            del content[at or 1 :]
        if not content:
            break
    return repacked(raw, data_pkl=bytes(content)) if inside else bytes(content)


def tried(raw: bytes) -> str:
    """How loading ended: "" as it should, else what was wrong."""
    before = dict(vars(tinytorch.Tensor))
    began = time.process_time()  # other programs may be at work, too
    tracemalloc.reset_peak()
    held = tracemalloc.get_traced_memory()[0]
    try:
        tinytorch.load(io.BytesIO(raw))
    except ALLOWED:
        pass
    except BaseException as error:  # noqa: BLE001 - whatever it is, it is what is looked for
        return f"{type(error).__name__}: {str(error)[:80]}"
    took, most = time.process_time() - began, tracemalloc.get_traced_memory()[1] - held
    if took > SECONDS:
        return f"took {took:.1f} s"
    if tracemalloc.is_tracing() and most > MEMORY + 12 * len(raw):
        return f"took {most:,} bytes"
    if CALLED or before != dict(vars(tinytorch.Tensor)):
        CALLED.clear()
        return "something was called or changed"
    return ""


def attack(trials: int, seed: int) -> tuple[int, Counter[str]]:
    """Try the crafted files and `trials` changed ones: how many were tried, and how the failed ones failed."""
    raw, failed = good(), Counter[str]()
    tracemalloc.start()
    try:
        files = crafted(raw)
        failed.update(
            f"{name}: {how}" for name, content in files.items() if (how := tried(content))
        )
        for n in range(trials):
            if how := tried(changed(raw, random.Random(f"{seed} {n}"))):
                failed[
                    f"{how} (first at {n})" if not any(how in known for known in failed) else how
                ] += 1
    finally:
        tracemalloc.stop()
    return len(files) + trials, failed


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--trials", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    count, failures = attack(asked.trials, asked.seed)
    print("\n".join(f"{n} times {how}" for how, n in failures.most_common(30)))
    print(f"{count} tried, {sum(failures.values())} failed")
    sys.exit(bool(failures))
