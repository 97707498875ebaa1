"""What became of a comparison of measures: a judgement per sampling fraction, attacks, and times."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from gamekeeper.attack.judging.attack_experiment import AttackExperiment
from gamekeeper.attack.judging.joint import JointTable
from gamekeeper.attack.judging.judgement import Judgement, all_in_words
from gamekeeper.errors import InputError, Reason
from gamekeeper.results import Listing, Provenance, Result
from gamekeeper.wording import at_start, count_of, fraction_text, percent_text, quoted

if TYPE_CHECKING:
    import pyarrow as pa
    from matplotlib.figure import Figure


@dataclass(frozen=True, repr=False, eq=False)
class Setting:
    """The samples of one sampling fraction."""

    fraction: Fraction
    judgement: Judgement
    joint: JointTable

    @property
    def words(self) -> str:
        """The sampling fraction for reading."""
        return fraction_text(self.fraction)

    def __repr__(self) -> str:
        return f"Setting({self.words}, {self.judgement.n_uniques:,} sample uniques)"


@dataclass(frozen=True, repr=False, eq=False)
class Comparison(Result):
    """How measures of record-level risk fared on samples of a known population.

    Attributes
    ----------
    n_records, n_population_uniques, n_cells
        Size and uniques of the population, and the cells of the key.
    keys
        The key variables.
    settings
        One per sampling fraction.
    attacks
        What attacks by the measures achieve, at these fractions and at those drawn besides.
    """

    tells_of_records = False

    n_records: int
    n_population_uniques: int
    n_cells: int
    keys: tuple[str, ...]
    settings: tuple[Setting, ...]
    attacks: AttackExperiment
    provenance: Provenance

    @property
    def measures(self) -> tuple[str, ...]:
        """The names of the measures."""
        return self.settings[0].judgement.measures

    def at(self, fraction: Fraction) -> Setting:
        """Return the samples of one sampling fraction."""
        for setting in self.settings:
            if setting.fraction == fraction:
                return setting
        raise InputError(
            Reason.UNKNOWN_NAME,
            f"Samples of {fraction_text(Fraction(fraction))} were asked for.",
            "None was drawn.",
            f"There are: {quoted(setting.words for setting in self.settings)}.",
        )

    def timings(self) -> Listing:
        """Return the seconds of every measure per sample at every fraction: mean, least and most."""
        return self.attacks.timings()

    def summary(self) -> dict[str, Any]:
        """Return the headline numbers."""
        found: dict[str, Any] = {
            "records": self.n_records,
            "population_uniques": self.n_population_uniques,
            "keys": len(self.keys),
            "samples": sum(len(setting.judgement.samples) for setting in self.settings),
        }
        for setting in self.settings:
            best = setting.judgement.best
            if best is not None and best.auc is not None:
                found[f"best at {setting.words}"] = f"{best.measure}, AUC {best.auc.value:.3f}"
            else:
                found[f"best at {setting.words}"] = "not known"
        first = self.attacks.best
        found["best first ten"] = "not known" if first is None else f"{first[0]}, {first[1]:.3f}"
        return found

    def to_arrow(self) -> pa.Table:
        """Return one line per sampling fraction and measure."""
        import pyarrow as pa

        tables: list[pa.Table] = []
        for setting in self.settings:
            table = setting.judgement.to_arrow()
            n_rows = table.num_rows
            fractions = pa.array([float(setting.fraction)] * n_rows, pa.float64())
            samples = pa.array([len(setting.judgement.samples)] * n_rows, pa.int64())
            uniques = pa.array([setting.judgement.n_uniques] * n_rows, pa.int64())
            table = table.add_column(0, "fraction", fractions)
            table = table.add_column(2, "samples", samples)
            tables.append(table.add_column(3, "sample_uniques", uniques))
        return pa.concat_tables(tables)

    def sentences(self) -> list[str]:
        """Return what was found, in words."""
        told = (
            f"Samples were drawn from a population of {count_of(self.n_records, 'record')}, of "
            f"which {self.n_population_uniques:,} are unique on "
            f"{count_of(len(self.keys), 'key variable')}."
        )
        lines = [told]
        for setting in self.settings:
            judgement = setting.judgement
            best = judgement.best
            n_samples = count_of(len(judgement.samples), "sample")
            told = (
                f"{n_samples} of {setting.words}: {count_of(judgement.n_uniques, 'sample unique')}"
            )
            if best is None or best.auc is None:
                lines.append(f"{told}; no ranking can be judged.")
                continue
            lines.append(
                f"{told}, {judgement.n_population_uniques:,} of them population unique. "
                f"{_finders(judgement.best_measures)} one above another sample "
                f"unique in {percent_text(best.auc.value)} of pairs."
            )
        return lines

    def plot(self) -> Figure:
        """Plot the mean time of every measure."""
        from gamekeeper.attack.judging.judgement_plots import plot_seconds

        return plot_seconds(self)


def _finders(measures: tuple[str, ...]) -> str:
    words = at_start(all_in_words(measures))
    if len(measures) == 1:
        return f"{words} finds these best: it ranks"
    return f"{words} find these best, equally well: they rank"
