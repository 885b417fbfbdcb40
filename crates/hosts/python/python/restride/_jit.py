"""`restride.jit`: functions of arrays that are followed once for each shape, and then run in one pass."""

import functools
import html

import numpy as np

from ._lazy import LazyArray, _native, lazy
from ._restride import Repeated, evaluate, stages

#: How many shapes a function remembers.
REMEMBERED = 512


class _Traced:
    """What a function does to arrays of some shapes: for each answer the arguments that it reads, and how."""

    def __init__(self, function, arrays, rest, names):
        followed = [lazy(array) for array in arrays]
        for argument in followed:
            # A name of its own, though two arguments are one array.
            argument._operands = (argument._operands[0].view(),)
        made = function(*followed, *rest, **names)
        self.kind = type(made) if isinstance(made, (tuple, list)) else None
        made = made if self.kind else [made]
        own = {id(argument._operands[0]): at for at, argument in enumerate(followed)}
        self.answers = []
        for answer in made:
            if not isinstance(answer, LazyArray):
                raise TypeError(f"a function under restride.jit answers with lazy arrays, not with {type(answer).__name__}")
            moved, picks, lines = answer._lines()
            # Arrays that are no arguments are the same at every call.
            place = [[(own.get(id(array)), array) for array in part] for part in (moved, picks)]
            place = [[(at, None if at is not None else array) for at, array in part] for part in place]
            self.answers.append((*place, lines))
        self.plain = self._plain(arrays)

    def _plain(self, arrays):
        """The only answer by numbers of arguments, if it reads nothing else and indices as they are."""
        if self.kind:
            return None
        moved, picks, lines = self.answers[0]
        moved, picks = [at for at, _ in moved], [at for at, _ in picks]
        if None in moved + picks or any(_native(arrays[at]) is not arrays[at] for at in picks):
            return None
        return moved, picks, lines

    def arguments(self, arrays, answer):
        moved, picks, lines = answer
        fill = lambda part: [array if at is None else arrays[at] for at, array in part]  # noqa: E731
        return fill(moved), [_native(pick) for pick in fill(picks)], lines

    def run(self, arrays, copy, out, threads):
        outs = out if self.kind and out is not None else [out] * len(self.answers)
        views = copy is not True and out is None
        made = [
            evaluate(*self.arguments(arrays, answer), views, into, threads)
            for answer, into in zip(self.answers, outs, strict=True)
        ]
        return self.kind(made) if self.kind else made[0]


class Lowered:
    """The stages of a function for some arrays: prints as text, and shows as a page in a notebook."""

    def __init__(self, name, parts):
        self.name = name
        self.stages = parts

    def __str__(self):
        return "\n".join(f"# {name}\n\n{text.rstrip()}\n" for name, text in self.stages)

    __repr__ = __str__

    def _repr_html_(self):
        parts = (
            f"<details{' open' if name.startswith('loops') else ''}><summary>{html.escape(name)}</summary>"
            f"<pre>{html.escape(text)}</pre></details>"
            for name, text in self.stages
        )
        return f"<h4>{html.escape(self.name)}</h4>" + "".join(parts)


class Jitted:
    """A function under `restride.jit`."""

    def __init__(self, function, copy=None, threads=None):
        functools.update_wrapper(self, function)
        self._function = function
        self._copy = copy
        self._threads = threads
        self._known = {}
        self._repeated = Repeated(copy is not True, threads)
        self._last = None

    def _traced(self, args, names):
        arrays = [np.asarray(each) for each in args if _is_array(each)]
        rest = tuple(None if _is_array(each) else each for each in args)
        key = (rest, tuple(sorted(names.items())), *((array.shape, array.dtype) for array in arrays))
        traced = self._known.get(key)
        if traced is None:
            arguments = iter(range(len(arrays)))
            places = [next(arguments) if _is_array(each) else None for each in args]

            def function(*followed, **names):
                filled = (each if at is None else followed[at] for at, each in zip(places, args))
                return self._function(*filled, **names)

            traced = _Traced(function, arrays, (), names)
            if len(self._known) >= REMEMBERED:
                self._known.clear()
            self._known[key] = traced
        self._last = (traced, arrays)
        return traced, arrays

    def __call__(self, *args, out=None, **names):
        if out is None and not names:
            made = self._repeated(args)
            if made is not None:
                self._last = args
                return made
        traced, arrays = self._traced(args, names)
        if traced.plain is not None and not names:
            # Arrays of numpy alone are told apart by little.
            self._repeated.remember(args, *traced.plain)
        return traced.run(arrays, self._copy, out, self._threads)

    def lower(self, *args, **names):
        """The stages of the function for these arrays, which are not moved."""
        traced, arrays = self._traced(args, names)
        parts = []
        for at, answer in enumerate(traced.answers):
            of = f" of answer {at}" if len(traced.answers) > 1 else ""
            parts += [(name + of, text) for name, text in stages(*traced.arguments(arrays, answer), self._copy is not True)]
        return Lowered(self.__name__, parts)

    def explain(self, *args, **names):
        """The stages as text: for these arrays, or for those of the last call."""
        if args:
            return str(self.lower(*args, **names))
        if self._last is None:
            raise ValueError("the function has not been called: explain(x) says it for an array")
        traced, arrays = self._last if isinstance(self._last[0], _Traced) else self._traced(self._last, {})
        texts = []
        for answer in traced.answers:
            texts += stages(*traced.arguments(arrays, answer), self._copy is not True)
        return str(Lowered(self.__name__, texts))


def _is_array(each):
    return isinstance(each, (np.ndarray, LazyArray)) or hasattr(each, "__array__") and not np.isscalar(each)


def jit(function=None, *, copy=None, threads=None):
    """A function that moves arrays, done in one pass for each array that it answers with.

    It is followed once for each combination of shapes, dtypes and other arguments, with lazy arrays in the
    place of arrays; numbers and other arguments are part of what is remembered. Arrays that it finds
    elsewhere are taken as they are then. `f.lower(x)` shows the stages, `f.explain()` those of the last call.

    >>> import numpy as np, restride
    >>> @restride.jit
    ... def heads(x, count):
    ...     b, s, d = x.shape
    ...     return x.reshape(b, s, count, d // count).transpose(0, 2, 1, 3).reshape(b * count, s, -1)
    >>> heads(np.zeros((2, 5, 12), np.float32), 3).shape
    (6, 5, 4)
    """
    if function is None:
        return functools.partial(jit, copy=copy, threads=threads)
    return Jitted(function, copy, threads)
