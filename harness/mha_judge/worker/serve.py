"""The worker's loop: read a request, obey, answer."""

import contextlib
import os
import sys
from collections.abc import Callable
from typing import Any

import torch

from mha_judge.wire import FrameReader, Kept, WireError, encode_frame, map_tree, pack, unpack
from mha_judge.wire.bounds import MAX_REQUEST_BYTES
from mha_judge.wire.language_models import with_language_models
from mha_judge.wire.operations import Operation
from mha_judge.worker import (
    instances,
    leaving,
    manner,
    noting,
    observation,
    reach,
    sizes,
    submission,
)
from mha_judge.worker.device import Device, Sets, devices_of
from mha_judge.worker.gradients import expanded, pull_back, require_gradients

Obeyed = tuple[dict[str, Any], dict[str, Any]]
"""What an operation returns: fields sent as they are, and at most one value with tensors."""


class Server:
    """Holds one submission: its module, its instances and the results it was told to keep."""

    def __init__(self) -> None:
        self._module: Any = None
        self._instances: list[Any] = []
        self._makers: list[Callable[[], Any]] = []
        self._kept: dict[int, Any] = {}
        self._results = leaving.Results()
        self._place = Device()
        self._sets = Sets()

    def answer(self, header: dict[str, Any], payload: bytes) -> bytes:
        """Obey one request and return the bytes of its answer."""
        number = int(header["id"])
        try:
            asked = [*header.get("first", []), header]
            trees = [one.get("value", ["none"]) for one in asked]
            given: Any = unpack(["list", trees], payload, strides=True)
            for one, value in zip(asked, given, strict=True):
                fields, values = self.obey(one, self._place.moved(value))
            tensors = b""
            for name, returned in values.items():
                fields[name], tensors = pack(returned)
        except BaseException as error:  # SystemExit and KeyboardInterrupt too: it must answer
            raised = submission.describe(error)
            self._place.recover()
            return encode_frame({"id": number, "raised": raised, **_notes()})
        with contextlib.suppress(BaseException):
            sys.stdout.flush()
            sys.stderr.flush()
        return encode_frame({"id": number, "ok": fields, **_notes()}, tensors)

    def obey(self, header: dict[str, Any], value: Any) -> Obeyed:
        """Do what a request says; let exceptions of the submission through."""
        obeyed: Obeyed = getattr(self, f"_{Operation(header['op'])}")(header, value)
        return obeyed

    def _load(self, header: dict[str, Any], value: Any) -> Obeyed:
        if not header.get("dropout", True):
            submission.take_dropout_away()
        if not header.get("fused_attention", True):
            noting.take_fused_attention_away()
        submission.seed(header.get("draws", 0))
        self._module = submission.load(header["source"], header["filename"])
        return {"definitions": submission.definitions(self._module)}, {}

    def _read(self, header: dict[str, Any], value: Any) -> Obeyed:
        return {}, {"value": getattr(self._module, header["name"])}

    def _new(self, header: dict[str, Any], value: Any) -> Obeyed:
        args, kwargs = value

        def make() -> Any:
            instance = getattr(self._module, header["name"])(*args, **kwargs)
            if hasattr(instance, "eval") and callable(instance.eval):
                instance.eval()
            return instance

        instance = make()
        for module in instances.modules(instance):
            self._place.receive(module)
        self._instances.append(instance)
        self._makers.append(make)
        handle = len(self._instances) - 1
        return {"handle": handle, "parameters": instances.parameters(instance)}, {}

    def _parameters(self, header: dict[str, Any], value: Any) -> Obeyed:
        return {"parameters": instances.parameters(self._instances[header["handle"]])}, {}

    def _set_parameters(self, header: dict[str, Any], value: Any) -> Obeyed:
        instance = self._instances[header["handle"]]
        how = header["dtype"], header["aliases"]
        where = {key: header[key] for key in ("in_place", "elsewhere")}
        instances.set_parameters(instance, value, *how, **where)
        return {}, {}

    def _mode(self, header: dict[str, Any], value: Any) -> Obeyed:
        self._instances[header["handle"]].train(header["training"])
        return {}, {}

    def _device(self, header: dict[str, Any], value: Any) -> Obeyed:
        return self._place.take(header["name"], header["memory_bytes"]), {}

    def _hold(self, header: dict[str, Any], value: Any) -> Obeyed:
        self._sets.hold(value)
        self._place.settle()
        return {}, {}

    def _shake(self, header: dict[str, Any], value: Any) -> Obeyed:
        self._sets.shake()
        self._place.settle()
        return {}, {}

    def _repeat(self, header: dict[str, Any], value: Any) -> Obeyed:
        total = self._sets.run(self._target(header["target"], None), header["count"])
        self._place.settle()
        return {}, {"value": total}

    def _overwritten(self, header: dict[str, Any], value: Any) -> Obeyed:
        return {"any": bool(self._results.overwritten())}, {}

    def _fetch(self, header: dict[str, Any], value: Any) -> Obeyed:
        return {}, {"value": self._revive(value)}

    def _call(self, header: dict[str, Any], value: Any) -> Obeyed:
        how = header.get("manner", {})
        args, kwargs, cotangents = self._revive(manner.laid_out(value, how.get("layout", "")))
        model, target = self._asked(header, args, kwargs)
        if header.get("language_models"):
            target = with_language_models(target, header["language_models"])
        wrt: list[str] = header.get("wrt", [])
        differentiated = require_gradients(args, kwargs, wrt)
        number = how.get("number", 0)
        manner.require_gradients((args, kwargs), how.get("leaf", ""), number)
        args, kwargs = manner.made((args, kwargs), how.get("leaf", ""))
        fields: dict[str, Any] = {}
        frozen = manner.frozen(model, how.get("frozen", ""), number)
        training = manner.in_training(model) if how.get("training") else contextlib.nullcontext()
        with frozen, training, manner.unlike(model, self._original(header["target"])):
            mode = how.get("mode", "")
            manner.rehearse(how.get("before", ""), mode, target, args, kwargs, model, number)
            inputs = leaving.Inputs((args, kwargs)) if header.get("watched") else None
            with manner.gradient_mode(mode):
                result = self._result(header, lambda: target(*args, **kwargs), fields)
            if inputs is not None:
                fields["written"] = inputs.written()
                self._results.keep(int(header["id"]), result)
            manner.follow(how.get("after", ""), mode, target, args, kwargs)
            self._place.settle()
            if header.get("devices"):
                fields["devices"] = devices_of(result)
                result = None  # only its device was asked for
            answer: dict[str, Any] = {"value": result}
            if cotangents is not None:
                again = how.get("before") == "backward"
                if how.get("upstream") == "expanded":
                    cotangents = map_tree(expanded, cotangents)
                answer["gradients"] = _watched(
                    header.get("observe") == "backward",
                    lambda: pull_back(result, cotangents, differentiated, model, again),
                    fields,
                )
        if header.get("inputs_after"):
            answer["inputs"] = (args, kwargs)
        if header.get("keep"):
            self._kept[int(header["id"])] = result
        return fields, {"answer": answer}

    def _asked(
        self, header: dict[str, Any], args: Any, kwargs: Any
    ) -> tuple[Any, Callable[..., Any]]:
        """Return the instance that is called, None for a function, and the callable."""
        target, method = header["target"], header.get("method")
        if not isinstance(target, int):
            return None, self._target(target, method)
        instance = self._instances[target]
        if method is not None:
            return instance, getattr(instance, method)
        how = header.get("manner", {})
        instance = manner.another(
            instance,
            how.get("instance", ""),
            lambda one, dtype=None: manner.called_in(dtype, instances.entry_of(one), args, kwargs),
            how.get("number", 0),
            self._makers[target],
        )
        return instance, instances.entry_of(instance)

    def _original(self, target: str | int) -> Any:
        """Return the instance that a request names, before any copy; None for a function."""
        return self._instances[target] if isinstance(target, int) else None

    def _result(
        self, header: dict[str, Any], call: Callable[[], Any], fields: dict[str, Any]
    ) -> Any:
        """Return a call's result; put what else is asked of it into `fields`."""
        if header.get("observe") == "sizes":
            fields["compared"] = sizes.compared_in(call)
            return None
        if header.get("peak"):
            with torch.no_grad():
                result, fields["peak_bytes"] = self._place.peak_of(call)
            return result
        return _watched(header.get("observe") == "call", call, fields)

    def _target(self, target: str | int, method: str | None) -> Callable[..., Any]:
        if isinstance(target, int) and method is not None:
            return getattr(self._instances[target], method)  # type: ignore[no-any-return]  # any
        if isinstance(target, int):
            return instances.entry_of(self._instances[target])
        return getattr(self._module, target)  # type: ignore[no-any-return]  # whatever it is

    def _revive(self, value: Any) -> Any:
        """Return `value` with every `Kept` in it replaced by the object that it names."""
        return map_tree(lambda leaf: self._found(leaf) if isinstance(leaf, Kept) else leaf, value)

    def _found(self, kept: Kept) -> Any:
        found = self._kept[kept.call]
        for step in kept.path:
            found = found[step]
        return kept.passed_on(found)


def _watched(watch: bool, work: Callable[[], Any], fields: dict[str, Any]) -> Any:
    """Return the result of `work`; if `watch`, put what it did into `fields`."""
    if not watch:
        return work()
    with observation.watching() as seen:
        result = work()
    fields["observed"] = seen.as_fields()
    return result


def _notes() -> dict[str, Any]:
    """Return the notes and the reached blocks that go with every answer, unless empty."""
    told = {"notes": noting.take(), "reached": reach.take()}
    return {name: value for name, value in told.items() if value}


def serve(requests: int, answers: int) -> None:
    """Answer requests from one descriptor on another until the first is closed."""
    server = Server()
    reader = FrameReader(MAX_REQUEST_BYTES)
    while True:
        try:
            frame = reader.next_frame()
        except WireError:
            return
        if frame is None:
            data = os.read(requests, 1 << 20)
            if not data:
                return
            reader.feed(data)
            continue
        _write(answers, server.answer(*frame))


def _write(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]
