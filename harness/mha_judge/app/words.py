"""What the app says, in English and in Chinese."""

from __future__ import annotations

from collections.abc import Mapping

Words = Mapping[str, str]

WORDS: dict[str, dict[str, str]] = {
    "en": {
        # keys, as the bottom line names them
        "key open": "Open",
        "key begin": "Begin",
        "key edit": "Edit",
        "key grade": "Grade",
        "key stop": "Stop",
        "key hint": "Hint",
        "key solution": "Solution",
        "key rating": "Rating",
        "key notes": "Notes",
        "key language": "中文",
        "key help": "Help",
        "key quit": "Quit",
        "key back": "Problems",
        "key close": "Close",
        "key yes": "Yes",
        "key no": "No",
        # tabs
        "task": "Task",
        "checks": "Checks",
        "report": "Report",
        "hints": "Hints",
        "notes": "Notes",
        "fine print": "f shows the fine print: further rules, and what is graded up to where.",
        # problems
        "next": "Next",
        "looking": "looking at what is due …",
        "all done": "Everything is solved, and nothing is due. Well done.",
        "level": "level {level} · {minutes} min",
        "not begun": "Enter or b begins: the starter is written into {folder}.",
        "wrote": "{path} is written; e opens it, every save is graded.",
        "was there": "{path} was there already and stays as it is; you go on in it.",
        "file gone": "{path} is not there any more; b writes the starter anew.",
        "already begun": "It is begun, in {path}; e opens it.",
        # status
        "attempt": "attempt {number}",
        "minutes": "{minutes} min",
        "points": "{points:g} points",
        "after hints": "{points:g} points after hints (−{price:g})",
        "hints cost": "hints: −{price:g}",
        "solved": "solved",
        "given up": "given up",
        "grading": "grading …",
        "checks so far": "{count} checks so far",
        # checks and report
        "no checks": "Save the file, or press r, and its checks appear here.",
        "no report": "The report of your last answer appears here.",
        "no verdict": "There is no verdict: {why}",
        "stopped": "you stopped it; that is no attempt.",
        "accepted": "ACCEPTED",
        "rejected": "REJECTED",
        "error": "DOES NOT LOAD",
        "timeout": "LOADING DOES NOT END",
        "crashed": "CRASHED WHILE LOADING",
        "line": "line {line}: ",
        "explains": "explains",
        "and more": "and {count} more",
        "explain some": "Known mistakes (−{cost:g}) explain {explained} of {failed} failures.",
        "explain failures": "Known mistakes (−{cost:g}) explain every failure.",
        "waiting": "Checks not assessed, as they build on one that failed: {count}.",
        "explain everything": "Known mistakes (−{cost:g}) explain every failure; the rest is fine.",
        "as it stands": "As it stands, the checks that pass come to {points:g}.",
        "other reasons": "Fails all the same",
        "wrong where": "Wrong where {where}; right elsewhere so far.",
        "mend first": "Mend first",
        "goes wrong": "A small call that goes wrong",
        "expected": "expected",
        "yours": "yours",
        "not named": "h offers a hint; with the first one the mistake is named.",
        "how it shows": "How it shows",
        "policy": "Rule",
        "note": "Note",
        "printed": "The file printed, or Python warned",
        "no gpu": "not assessed: {why}",
        "advisory": "advice",
        "answers": "Answers to the questions",
        "passed of": "{passed} of {of} passed",
        "comes back": "It comes back on {day}; v rates it otherwise, s shows the solution.",
        # hints
        "no hints": "Hints that you take are listed here. h offers the next one.",
        "question": "a question to ask yourself",
        "where": "where to look",
        "change": "what to change",
        "for title": "for “{title}”",
        "for mistake": "for what your last answer shows",
        "for problem": "for the problem as a whole",
        "offer": "Hint {rung} of {rungs} {what}:\n{tells}.\n\nIt costs {price:g} points; hints "
        "have cost {spent:g} so far.",
        "take it": "Take it?",
        "try first": "A hint comes after a try: change the starter and save it.",
        "begin first": "It is not begun; b begins.",
        "no hints any more": "This round is over: no hints are left, and s shows the solution.",
        "no further hint": "There is no further hint; s shows the solution and gives up.",
        # solution
        "give up": "It is not solved yet. Giving up ends the round and shows the solution; the "
        "problem comes back as if it were new.\n\nGive up?",
        "solution of": "Solution: {title}",
        # rating
        "rate": "How well did you know {title}?",
        "again": "Again: I did not know it",
        "hard": "Hard: only with effort",
        "good": "Good: after some thought",
        "easy": "Easy: at once",
        "rated": "Rated “{rating}”; due on {day}.",
        "not rated": "It has not been rated yet; solve it first.",
        # notes, trouble, others
        "notes for": "Your notes on {title}; they are kept as you type. Esc leaves.",
        "too small": "This window is {columns}×{rows}; the app needs {least_columns}×{least_rows}. "
        "Make it larger, or a smaller font; Ctrl+Q quits.",
        "no terminal to lend": "There is no terminal here that an editor could have; pass one with "
        "a window as --edit-cmd.",
        "how to quit": "Press q to quit; Ctrl+Q does so anywhere.",
        "nothing open": "Choose a problem first.",
        "nothing to stop": "Nothing is being graded here.",
        "not found": "{problem} is no longer in the bank.",
        "help": """\
The list on the left has all problems by track:
  {solved} solved   {open} begun   {due} due again   {new} not yet
Above it stands what is best done now, and why.

  Enter   show a problem; once more: begin it
  b       begin: write its starter, and watch the file
  e       open the file in your editor
  r       grade it again (each save does so by itself)
  x       stop grading; that is no attempt
  h       next hint, for a price that is named first
  s       solution; before success it means giving up
  v       rate a solved problem otherwise
  n       notes; Esc leaves them
  f       the task's fine print, and back
  1 … 5   task, checks, report, hints, notes
  Esc     back to the list; Tab: next part
  l       中文 / English
  q       quit; what you did is kept

Signs of checks: {passed} passed, {failed} failed, – not assessed.""",
    },
    "zh": {
        "key open": "打开",
        "key begin": "开始",
        "key edit": "编辑",
        "key grade": "评分",
        "key stop": "停止",
        "key hint": "提示",
        "key solution": "答案",
        "key rating": "评级",
        "key notes": "笔记",
        "key language": "English",
        "key help": "帮助",
        "key quit": "退出",
        "key back": "题目列表",
        "key close": "关闭",
        "key yes": "是",
        "key no": "否",
        "task": "题目",
        "checks": "检查",
        "report": "报告",
        "hints": "提示",
        "notes": "笔记",
        "fine print": "按 f 显示细则：更多规则与评分范围。",
        "next": "接下来",
        "looking": "正在查看该做什么……",
        "all done": "全部解出，也没有到期的复习。",
        "level": "难度 {level} · {minutes} 分钟",
        "not begun": "按 Enter 或 b 开始：起始文件会写入 {folder}。",
        "wrote": "已写出 {path}；按 e 打开，每次保存都会评分。",
        "was there": "{path} 已经存在，内容未动；您接着在其中作答。",
        "file gone": "{path} 已不存在；按 b 重新写出起始文件。",
        "already begun": "已经开始，文件是 {path}；按 e 打开。",
        "attempt": "第 {number} 次",
        "minutes": "{minutes} 分钟",
        "points": "{points:g} 分",
        "after hints": "扣除提示后 {points:g} 分（−{price:g}）",
        "hints cost": "提示：−{price:g}",
        "solved": "已解出",
        "given up": "已放弃",
        "grading": "正在评分……",
        "checks so far": "已完成 {count} 项检查",
        "no checks": "保存文件或按 r 之后，这里会逐项列出检查结果。",
        "no report": "这里显示您上一次作答的报告。",
        "no verdict": "没有得出结论：{why}",
        "stopped": "您停止了评分，不计为一次作答。",
        "accepted": "通过",
        "rejected": "未通过",
        "error": "无法加载",
        "timeout": "加载没有结束",
        "crashed": "加载时崩溃",
        "line": "第 {line} 行：",
        "explains": "它解释了",
        "and more": "等另外 {count} 项",
        "explain some": "已知的错误（−{cost:g}）解释了 {failed} 处失败中的 {explained} 处。",
        "explain failures": "已知的错误（−{cost:g}）解释了全部失败。",
        "waiting": "有 {count} 项检查未评，因为它们依赖的检查没有通过。",
        "explain everything": "已知的错误（−{cost:g}）解释了全部失败；除此之外都是对的。",
        "as it stands": "就目前而言，通过的检查合计 {points:g} 分。",
        "other reasons": "仍未通过",
        "wrong where": "出错之处的共同点：{where}；目前其他地方都对。",
        "mend first": "先修正",
        "goes wrong": "一个出错的小例子",
        "expected": "应为",
        "yours": "您的",
        "not named": "按 h 获取提示；看过第一条提示后，会指出是什么错误。",
        "how it shows": "错在哪里",
        "policy": "规则",
        "note": "说明",
        "printed": "文件的输出或 Python 的警告",
        "no gpu": "未评：{why}",
        "advisory": "建议",
        "answers": "各题答案",
        "passed of": "{of} 项中通过 {passed} 项",
        "comes back": "将在 {day} 复习；按 v 改评级，按 s 看答案。",
        "no hints": "这里列出您取用过的提示。按 h 查看下一条。",
        "question": "一个值得自问的问题",
        "where": "该看哪里",
        "change": "该改什么",
        "for title": "针对“{title}”的",
        "for mistake": "针对您上次作答中的问题",
        "for problem": "针对整道题的",
        "offer": "{what}第 {rung} 条提示（共 {rungs} 条）：\n{tells}。\n\n价格 {price:g} 分；"
        "此前的提示共用去 {spent:g} 分。",
        "take it": "要看吗？",
        "try first": "先作答一次才有提示：请改动起始文件并保存。",
        "begin first": "还没有开始；请按 b。",
        "no hints any more": "这一轮已经结束，不再有提示；按 s 查看答案。",
        "no further hint": "没有更多提示了；按 s 可放弃并查看答案。",
        "give up": "还没有解出。放弃会结束这一轮并显示答案；这道题之后会像新题一样再次出现。"
        "\n\n要放弃吗？",
        "solution of": "答案：{title}",
        "rate": "“{title}”您掌握得如何？",
        "again": "重来：不会",
        "hard": "困难：很费力",
        "good": "良好：想了一会儿",
        "easy": "容易：马上就会",
        "rated": "评为“{rating}”；{day} 到期。",
        "not rated": "还没有评级；请先解出这道题。",
        "notes for": "关于“{title}”的笔记；边输入边保存。按 Esc 离开。",
        "too small": "窗口大小为 {columns}×{rows}，至少需要 {least_columns}×{least_rows}。"
        "请放大窗口或缩小字体；Ctrl+Q 退出。",
        "no terminal to lend": "这里没有可供编辑器使用的终端；请用 --edit-cmd 指定带窗口的编辑器。",
        "how to quit": "按 q 退出；Ctrl+Q 在任何地方都有效。",
        "nothing open": "请先选择一道题。",
        "nothing to stop": "这道题现在没有在评分。",
        "not found": "{problem} 已不在题库中。",
        "help": """\
左边按专题列出全部题目：
  {solved} 已解出   {open} 已开始   {due} 该复习   {new} 未做
最上面是现在最该做的题和理由。

  Enter   显示题目；再按一次：开始
  b       开始：写出起始文件并监视它
  e       用编辑器打开文件
  r       重新评分（每次保存都会自动评分）
  x       停止评分，不计为一次作答
  h       下一条提示，先说明价格
  s       答案；解出之前查看即为放弃
  v       给已解出的题改评级
  n       笔记；按 Esc 离开
  f       显示或收起题目的细则
  1 … 5   题目、检查、报告、提示、笔记
  Esc     回到题目列表；Tab：下一部分
  l       中文 / English
  q       退出；做过的都已保存

检查的符号：{passed} 通过，{failed} 未通过，– 未评。""",
    },
}

assert WORDS["en"].keys() == WORDS["zh"].keys()
