"""What a report says around what was found, in English and in Chinese."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # the app has its first picture before models are imported
    from mha_judge.outcomes import Category

Words = Mapping[str, str]

CATEGORIES = {
    "shape": "形状",
    "values": "数值",
    "masking": "掩码",
    "numerics": "数值稳定",
    "gradients": "梯度",
    "robustness": "稳健性",
    "policy": "规则",
    "cost": "开销",
    "gpu": "GPU",
}
"""What the categories of checks are called in Chinese."""


def category_in(language: str, category: Category) -> str:
    """Return what a category of checks is called."""
    return CATEGORIES[str(category)] if language == "zh" else str(category)


WORDS: dict[str, dict[str, str]] = {
    "en": {
        "accepted": "ACCEPTED",
        "rejected": "REJECTED",
        "error": "ERROR",
        "timeout": "TIMEOUT",
        "crashed": "CRASHED",
        "line": "line {line}: ",
        "other reasons": "Fails all the same",
        "wrong where": "Wrong where {where}; right elsewhere so far.",
        "wrong where besides": "Wrong where {where}; right elsewhere, but for what is named above.",
        "more": "  and {count} more; -v shows all",
        "small call": "A small call that goes wrong",
        "again": "  (again: `mha-judge try FILE{seed} --call -`)",
        "expected": "expected: ",
        "yours": "yours:    ",
        "fails": "fails {titles}",
        "fails and more": "fails {titles} and {count} more",
        # what mistakes come to, one sentence
        "one mistake": "One mistake explains ",
        "mistakes": "{mistakes} mistakes together explain ",
        "explain nothing": "why nothing could be graded",
        "explain the one": "the one failure",
        "explain all": "all {failures} failures",
        "explain some": "{explained} of {failures} failures",
        "price": " (−{cost:g}).",
        "it granted": " With it granted, ",
        "they granted": " With them granted, ",
        "the other passes": "the other check passes",
        "the others pass": "the other {passing} checks pass",
        "one fails": "1 still does not",
        "some fail": "{failing} still do not",
        "untold": "{stopped} cannot be told yet",
        "untold without points": "{waiting} cannot be told yet, without points",
        "and": ", ",
        "left over": "; {left}.",
        "nothing known": ". Nothing is known of what no check reached: {lines}.",
        "all right": ": everything else is right.",
        "all right so far": ": nothing else was found so far.",
        "as it stands": " As it stands: {points:g}.",
        "advisory": "advisory",
        "not assessed": "not assessed",
        "right": "Right: ",
        "right but": "Right, but for what is named above: ",
        "verdict only": "· {count} checks not run: only the verdict was asked for",
        "only": "· Of all checks only these were run, so this is no verdict on the file: {ids}",
        "waiting": "{count} after a failed check",
        "unasked": "{count} asked if the rest is right",
        "on a gpu": "{count} on a GPU",
        "left": "· Not assessed: {parts}",
        "answers": "Answers to the questions",
        "more answers": "  {count} more you answered rightly; -v explains them too",
        "mend first": "Mend first: ",
        "policy": "Policy: ",
        "note": "Note: ",
        "never reached": "No check reached these lines: {lines}.",
        "printed": "The file printed, or Python warned:",
    },
    "zh": {
        "accepted": "通过",
        "rejected": "未通过",
        "error": "无法加载",
        "timeout": "加载超时",
        "crashed": "加载时崩溃",
        "line": "第 {line} 行：",
        "other reasons": "仍未通过",
        "wrong where": "出错之处：{where}；目前看来其余都对。",
        "wrong where besides": "出错之处：{where}；除上面所说的错误外，其余都对。",
        "more": "  还有 {count} 项；-v 显示全部",
        "small call": "一个出错的小例子",
        "again": "  （重现：`mha-judge try FILE{seed} --call -`）",
        "expected": "应为：",
        "yours": "你的：",
        "fails": "导致失败：{titles}",
        "fails and more": "导致失败：{titles}，另有 {count} 项",
        "one mistake": "一个错误",
        "mistakes": "{mistakes} 个错误合起来",
        "explain nothing": "说明了为什么无法评分",
        "explain the one": "解释了全部 {failures} 项失败",
        "explain all": "解释了全部 {failures} 项失败",
        "explain some": "解释了 {failures} 项失败中的 {explained} 项",
        "price": "（−{cost:g}）。",
        "it granted": "除此之外，",
        "they granted": "除此之外，",
        "the other passes": "另外 1 项检查通过",
        "the others pass": "另外 {passing} 项检查通过",
        "one fails": "1 项仍未通过",
        "some fail": "{failing} 项仍未通过",
        "untold": "{stopped} 项还无法判断",
        "untold without points": "{waiting} 项还无法判断，暂不得分",
        "and": "，",
        "left over": "，{left}。",
        "nothing known": "。没有检查运行到的行（{lines}）如何，不得而知。",
        "all right": "：其余全都正确。",
        "all right so far": "：目前没有发现别的错误。",
        "as it stands": "照现在的样子得 {points:g} 分。",
        "advisory": "仅供参考",
        "not assessed": "未评",
        "right": "正确：",
        "right but": "除上面所说的错误外正确：",
        "verdict only": "· {count} 项检查未运行：只要求给出结论",
        "only": "· 只运行了这些检查，所以这不是对整个文件的结论：{ids}",
        "waiting": "{count} 项依赖于失败的检查",
        "unasked": "{count} 项要等其余全对才评",
        "on a gpu": "{count} 项需要 GPU",
        "left": "· 未评：{parts}",
        "answers": "问题的答案",
        "more answers": "  另有 {count} 题答对了；-v 也给出它们的解释",
        "mend first": "先改这里：",
        "policy": "规则：",
        "note": "说明：",
        "never reached": "没有检查运行到这些行：{lines}。",
        "printed": "文件的输出，或 Python 的警告：",
    },
}

assert WORDS["en"].keys() == WORDS["zh"].keys()
