"""The rows of a bench: ratios of interleaved pairs with an interval, and how rows are shown."""

import random
import statistics
from dataclasses import asdict, dataclass

# A ratio of an arm with itself, measured in the same blocks, that strays further than this voids the row beside it.
SAME_ARM_LIMIT = 1.25
RESAMPLES = 2_000
# A run whose client was later itself than this share of a percentile of the latency says nothing about that percentile.
LAG_SHARE_MAX = 0.2


@dataclass(frozen=True)
class Percentile:
    """Measures one percentile of the latency of a run."""

    name: str  # as in the report: p50, p99, p999

    def __call__(self, run):
        return run["latency_us"][self.name]


def is_void(run, measure=None):
    """Whether a run says nothing about what is measured. The report judges the client's lag at the 99th percentile; here
    it is judged where the row looks, and for rows that are about no percentile at the median."""
    if run["void"] and not run["void_reason"].startswith("the client was late"):
        return True
    at = measure.name if isinstance(measure, Percentile) else "p50"
    return run["lag_us"][at] > LAG_SHARE_MAX * run["latency_us"][at]


@dataclass
class Row:
    metric: str
    value: float | None
    low: float | None
    high: float | None
    unit: str
    target: str | None  # "<= 1.3"; "high <= 1.1" is about the interval's upper end; None: no claim
    void: bool = False
    note: str = ""

    @classmethod
    def of_values(cls, metric, values, unit, target):
        low, high = interval(values)
        return cls(metric, statistics.median(values), low, high, unit, target)

    @classmethod
    def unmeasured(cls, metric, why):
        return cls(metric, None, None, None, "", None, void=True, note=why)

    @property
    def ok(self):
        """None where there is nothing to judge: no target, or a void row."""
        if self.void or self.target is None or self.value is None:
            return None
        *which, relation, limit = self.target.split()
        value = self.high if which else self.value
        return value <= float(limit) if relation == "<=" else value >= float(limit)

    def as_dict(self):
        return asdict(self) | {"ok": self.ok}


def interval(values):
    """95 % bootstrap interval of the median; the same for the same values."""
    if len(values) < 2:
        return None, None
    dice = random.Random(len(values))
    medians = sorted(statistics.median(dice.choices(values, k=len(values))) for _ in range(RESAMPLES))
    return medians[int(0.025 * RESAMPLES)], medians[int(0.975 * RESAMPLES) - 1]


def usable(pairs, measure):
    """The pairs whose runs both kept their own schedule; when there are none, all, for a row that is void then."""
    kept = [pair for pair in pairs if not any(is_void(run, measure) for run in pair)]
    return (kept or pairs), len(kept)


def void_reason(runs, measure):
    """Why runs are void, without their numbers: the commonest kind of reason."""
    kinds = [run["void_reason"].split(":")[0] or "the client was late itself" for run in runs if is_void(run, measure)]
    return max(kinds, key=kinds.count) if kinds else ""


def ratio_rows(metric, runs, arm, other, measure, target, pairs_min):
    """The A/A row and the row of a claim. `runs` maps an arm to its runs in time order, two per block A B … B A."""
    same, _ = usable([(runs[x][i], runs[x][i + 1]) for x in (arm, other) for i in range(0, len(runs[x]), 2)], measure)
    pairs, kept = usable(list(zip(runs[arm], runs[other])), measure)
    same_arm = Row.of_values("aa_" + metric, [measure(a) / measure(b) for a, b in same], "ratio", None)
    row = Row.of_values(metric, [measure(a) / measure(b) for a, b in pairs], "ratio", target)
    row.note = f"{arm} over {other}"
    if same_arm.high is None or same_arm.high > SAME_ARM_LIMIT or same_arm.low < 1 / SAME_ARM_LIMIT:
        same_arm.void = row.void = True
        row.note += "; void: an arm differs from itself too much"
    if kept < pairs_min:
        row.void = True
        row.note += f"; void: {len(runs[arm]) - kept} of {len(runs[arm])} pairs, {void_reason(runs[arm] + runs[other], measure)}"
    return [same_arm, row]


def value_row(metric, runs, measure, unit, target):
    """The median of a claim that compares nothing."""
    kept = [run for run in runs if not is_void(run, measure)]
    row = Row.of_values(metric, [measure(run) for run in kept or runs], unit, target)
    if not kept:
        row.void, row.note = True, f"void: every run, {void_reason(runs, measure)}"
    return row


def _number(value):
    return "–" if value is None else f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def _cells(row):
    value, low, high = (_number(row[k]) for k in ("value", "low", "high"))
    spread = "" if row["low"] is None else f"{low} … {high}"
    verdict = "void" if row["void"] else {True: "met", False: "missed", None: ""}[row["ok"]]
    return [row["metric"], value, spread, row["unit"], row["target"] or "", verdict, row["note"]]


HEAD = ["metric", "value", "95 % interval", "unit", "target", "", "note"]


def table(rows):
    """Plain text for a terminal."""
    lines = [HEAD] + [_cells(row.as_dict()) for row in rows]
    widths = [max(len(line[i]) for line in lines) for i in range(len(HEAD))]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip() for line in lines)


def markdown(report):
    """The table of docs/benchmarks.md from a report written with --json."""
    about = (f"taut {report['version']} ({report['commit']}), {report['date']}, {report['cpu']}, {report['cores']} cores, "
             f"Linux {report['kernel']}, steal {100 * report['steal']:.1f} %.")
    lines = [HEAD[:5] + ["verdict", "note"]] + [["---"] * len(HEAD)] + [_cells(row) for row in report["rows"]]
    return about + "\n\n" + "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


PEER_COLUMNS = {"p50": "median latency, 20,000/s", "cpu20k": "CPU a message, 20,000/s", "sat16": "throughput, 16 in flight",
                "one": "throughput, 1 in flight"}


def peers_markdown(report, peers):
    """The table of README.md: taut over each peer. What is void, or could not be measured, says so instead of a number."""
    rows = {row["metric"]: row for row in report["rows"]}

    def cell(metric):
        row = rows.get(metric)
        if row is None or row["value"] is None:
            return "not measured"
        return "void" if row["void"] else f"{_number(row['value'])} × ({_number(row['low'])} … {_number(row['high'])})"

    lines = [["taut over", *PEER_COLUMNS.values()], ["---"] * (len(PEER_COLUMNS) + 1)]
    lines += [[peer, *(cell(f"{column}_over_{peer}") for column in PEER_COLUMNS)] for peer in peers]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def markdown_into(path, what, text):
    """Replaces what stands between the two marks of `what`."""
    begin, end = f"<!-- {what}: tools/bench_chat.py --markdown -->", f"<!-- end of {what} -->"
    page = path.read_text()
    head, rest = page.split(begin)
    path.write_text(head + begin + "\n" + text + end + rest.split(end)[1])
