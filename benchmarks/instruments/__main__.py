"""How much of real instruments is read and matched: `python -m benchmarks.instruments FOLDER`.

FOLDER holds instruments and classifications of others, which are not part of this project. The key
beside this file says what a person made of twenty of them; what is not in FOLDER is left out.
"""

from __future__ import annotations

import csv
import resource
import sys
from collections import Counter
from pathlib import Path

import gamekeeper as gk
from benchmarks.instruments.environment import environment
from benchmarks.instruments.judging import KEY, judge
from gamekeeper.algorithms.categories.bands import read_bands
from gamekeeper.errors import GamekeeperError
from gamekeeper.importing.classifications import read_classifications
from gamekeeper.importing.matching import Matcher
from gamekeeper.importing.proposing import read_instrument
from gamekeeper.importing.questions import Answering, Instrument, no_answer
from gamekeeper.mapping.variables.definitions import variable_of

ENDINGS = {".xml", ".json", ".csv", ".xlsx", ".xls", ".lss", ".sav", ".dta", ".sas7bdat", ".hrc"}


def main() -> None:
    """Print what was read, what was matched, and how that compares with the key."""
    details = "--details" in sys.argv
    folders = [Path(word) for word in sys.argv[1:] if not word.startswith("--")]
    if not folders or not all(folder.is_dir() for folder in folders):
        print("Give folders of instruments: python -m benchmarks.instruments FOLDER... [--details]")
        raise SystemExit(2)
    folder = folders[0]
    read = _read(folders)
    matcher = Matcher(environment())
    _answers(read, matcher)
    _bands(read)
    _matches(read, details=details)
    _crosswalk(folder, read)
    used = resource.getrusage(resource.RUSAGE_SELF)
    print(f"CPU seconds, all of it: {used.ru_utime + used.ru_stime:.1f}")


def _read(folders: list[Path]) -> dict[str, Instrument]:
    read: dict[str, Instrument] = {}
    counts: Counter[str] = Counter()
    questions: Counter[str] = Counter()
    answers: Counter[str] = Counter()
    lists = 0
    for path in (path for folder in folders for path in sorted(folder.rglob("*"))):
        # Answers of a LimeSurvey table belong to its questions; what lies on top is about the folder.
        if path.suffix not in ENDINGS or path.parent in folders or "_answers" in path.name:
            continue
        try:
            found = read[path.name] = read_instrument(path)
        except GamekeeperError:
            try:
                lists += len(read_classifications(path))
                counts["classifications"] += 1
            except GamekeeperError as error:
                print(f"not read: {path.name} [{error.reason.value}]")
                counts["not read"] += 1
            continue
        counts[found.format] += 1
        questions[found.format] += len(found.questions)
        answers[found.format] += sum(len(question.answers) for question in found.questions)
    for name, count in counts.items():
        print(f"{name}: {count} files, {questions[name]:,} questions, {answers[name]:,} answers")
    print(f"code lists in classifications: {lists}")
    return read


def _answers(read: dict[str, Instrument], matcher: Matcher) -> None:
    known = total = 0
    for instrument in read.values():
        for question in instrument.questions:
            found = matcher.propose(question)
            if (
                found.best is not None
                and found.says_variable
                and question.answering is Answering.ONE
            ):
                known += sum(meaning.is_known for meaning in found.best.fit.meanings)
                total += len(question.answers)
    print(f"answers placed without a hand, where the variable is sure: {known:,} of {total:,}")


def _bands(read: dict[str, Instrument]) -> None:
    found = total = 0
    lists: Counter[bool] = Counter()
    for file, questions in KEY["bands"].items():
        asked = {q.name: q for q in read[file].questions} if file in read else {}
        for name, others in questions.items():
            if name not in asked:
                print(f"not there: {file} {name}") if file in read else None
                continue
            texts = [a.text for a in asked[name].answers if no_answer(a.text) is None]
            bands = set(texts) - set(others)
            got = set(read_bands(texts).ends) & bands
            found, total = found + len(got), total + len(bands)
            lists[got == bands] += 1
            for text in sorted(bands - got):
                print(f"no band: {file} {name}: {text}")
    print(f"bands read: {found} of {total} ({found / max(total, 1):.1%})")
    print(f"questions with bands read whole: {lists[True]} of {sum(lists.values())}")


def _matches(read: dict[str, Instrument], *, details: bool) -> None:
    known = environment()
    apart = {file: own for file, own in KEY["held_out"].items() if file not in KEY["kin"]}
    kin = {file: own for file, own in KEY["held_out"].items() if file in KEY["kin"]}
    judge(known, read, KEY["files"]).print("files that rules were refined on", details=details)
    judge(known, read, kin).print("held out, of the same families", details=False)
    judge(known, read, apart).print("held out, others", details=False)
    judge(known, read, KEY["fresh"]).print("fresh files", details=details and "--fresh" in sys.argv)
    every = {**KEY["files"], **KEY["held_out"], **KEY["fresh"]}
    judge(known, read, every).print("all files with a key", details=False)


def _crosswalk(folder: Path, read: dict[str, Instrument]) -> None:
    """Match one census's dictionary with another's classifications, and compare with the official crosswalk."""
    walks = list(folder.glob("*crosswalk*.csv"))
    tables = next(iter(folder.rglob("categories.csv")), None)
    instrument = read.get("uk_ni2021_categories.csv")
    if not walks or tables is None or instrument is None:
        return
    lists = read_classifications(tables)
    titles = {item.description: item.name for item in lists}
    variables = {item.name: variable_of(item.definition()) for item in lists}
    matcher = Matcher(gk.Environment(variables.values(), []))
    with walks[0].open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    truth: dict[str, str] = {}
    for row in rows:
        known = [mnemonic for mnemonic in titles if row["ons2021"].startswith(mnemonic)]
        if known:
            truth[row["ni2021"]] = titles[max(known, key=len)]
    proposals = {q.name: matcher.propose(q) for q in instrument.questions}
    pairs = [(proposals[n], right) for n, right in truth.items() if n in proposals]
    first = sum(p.best is not None and p.best.variable == right for p, right in pairs)
    said = [(p, right) for p, right in pairs if p.says_variable]
    wrong = [p for p, right in said if p.best is None or p.best.variable != right]
    print(
        f"official crosswalk: {len(pairs)} variables, right first {first}, sure {len(said)},"
        f" of these wrong {len(wrong)}"
    )


if __name__ == "__main__":
    main()
