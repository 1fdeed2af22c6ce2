"""How relevant a judged document may be said to be. trec_eval makes an array as long as the largest grade for every
query, so a grade without a bound would be memory and time without one."""

from numbers import Integral

from lexigraft.core.errors import InputError

LARGEST_GRADE = 100_000
_SHOWN = 60  # characters of a wrong value


def read_grade(text: str, said: str) -> int:
    """The grade that `text` spells; `said` begins the message where it spells none: its place and what it is called."""
    try:
        number = int(text)
    except ValueError:  # also of thousands of digits, which Python does not read
        raise wrong_grade(text, said) from None
    return checked_grade(number, said)


def checked_grade(value: object, said: str, after: str = "") -> int:
    """`value` as a grade; raises `InputError` where it is none, or out of range. `after` follows it in the message."""
    if not isinstance(value, Integral) or isinstance(value, bool) or abs(int(value)) > LARGEST_GRADE:
        raise wrong_grade(value, said, after)
    return int(value)


def wrong_grade(value: object, said: str, after: str = "") -> InputError:
    """What is raised for a value that is no grade."""
    try:
        shown = repr(value)
    except ValueError:  # Python does not write thousands of digits
        shown = "of thousands of digits"
    shown = shown if len(shown) <= _SHOWN else f"{shown[:_SHOWN]}..."
    return InputError(f"{said} {shown}{after} is not a whole number from -{LARGEST_GRADE:,} to {LARGEST_GRADE:,}")
