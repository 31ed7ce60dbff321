"""What the parts of the Bash analysis say: places, words, options, values, awk, sed, limits."""

import time

import pytest

from aw_graders.analysis.bash import RULES, analyse_bash, awk, sed
from aw_graders.analysis.bash.arguments import Argument, grammar, parse
from aw_graders.analysis.bash.doubts import find_doubts
from aw_graders.analysis.bash.facts import TOP, Facts, gather
from aw_graders.analysis.bash.parser import parse as parse_script
from aw_graders.analysis.bash.registry import MODELS, is_known
from aw_graders.analysis.bash.values import Trait, Values
from aw_graders.analysis.bash.words import decode_ansi, read_word

_WRITE = "grader-shell-file-write"
_DYNAMIC = "grader-shell-dynamic"
_SINKS = frozenset(("/dev/null", "/dev/stdout", "/dev/stderr"))
_SECONDS = 2.0
_SHARE_OF_A_BUSY_MACHINE = 4


def _errors(source):
    return [one for one in analyse_bash(source.encode()).findings if one.severity == "error"]


def _codes(source):
    return {one.code for one in _errors(source)}


def _warnings(source):
    return {one.code for one in analyse_bash(source.encode()).findings if one.severity == "warning"}


def _words(source):
    root = parse_script(source.encode())
    command = root.nodes("Stmts")[-1].node("Cmd")
    return root, command.nodes("Args")


# --- places ---------------------------------------------------------------------------------------


def test_a_finding_points_at_the_construct_in_characters():
    (found,) = _errors('words="äöü" # ok\necho "größe" | tee übersicht.txt')

    assert (found.line, found.column, found.length) == (2, 20, 13)
    assert found.rule == found.code == _WRITE
    assert found.hint


def test_a_redirection_is_the_place_of_what_it_writes():
    (found,) = _errors("printf '%s' é >é.txt")

    assert (found.line, found.column, found.length) == (1, 15, 6)


def test_a_construct_over_several_lines_ends_with_its_first():
    (found,) = _errors('sed -n "\n$x\n" a')

    assert (found.line, found.column, found.length) == (1, 8, 1)


def test_what_a_trap_runs_is_shown_at_the_trap():
    (found,) = _errors("trap 'echo a\nrm x' EXIT")

    assert (found.line, found.column) == (1, 6)


def test_findings_come_in_the_order_of_their_places():
    found = _errors("rm a\neval b; touch c\nfoo\n>d")

    assert [(one.line, one.column) for one in found] == sorted(
        (one.line, one.column) for one in found
    )
    assert len(found) == 4


def test_errors_are_not_hidden_by_any_number_of_warnings():
    assert _codes("unheard_of\n" * 400 + "rm x\n") == {_WRITE}
    assert len(analyse_bash(b"unheard_of\n" * 400 + b"rm x\n").findings) == 200


def test_no_script_gets_endless_findings():
    assert len(analyse_bash(b"rm x\n" * 5000).findings) == 200


def test_every_rule_has_its_findings():
    script = """
    rm x
    curl -s https://example.org
    ls
    jq .run.id "$1"
    cat
    unheard_of
    """
    assert {one.rule for one in analyse_bash(script.encode()).findings} == set(RULES)


# --- words ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("written", "exact", "head", "is_single"),
    [
        ("r'm'", "rm", "rm", True),
        ("r\\m", "rm", "rm", True),
        ('"r"m', "rm", "rm", True),
        ("$'\\x72\\155'", "rm", "rm", True),
        ('"a\\$b\\c"', "a$b\\c", "a$b\\c", True),
        ("a$x", None, "a", False),
        ('"a$x"', None, "a", True),
        ('"$@"', None, "", False),
        ('"$*"', None, "", True),
        ('"${a[@]}"', None, "", False),
        ('"${#a[@]}"', None, "", True),
        ("{rm,x}", None, "", False),
        ("r{m,}", None, "r", False),
        ("{}", "{}", "{}", True),
        ("a*", None, "a", False),
        ("[", "[", "[", True),
        ("~/x", None, "/", False),
        ('$"rm"', None, "", False),
        ("<(true)", None, "", True),
    ],
)
def test_a_word_is_what_bash_makes_of_it(written, exact, head, is_single):
    _, words = _words(f"echo {written}")
    text = read_word(words[1])

    assert (text.exact, text.head, text.is_single) == (exact, head, is_single)


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("a\\tb", "a\tb"),
        ("\\x41\\101\\u0041\\U00000041", "AAAA"),
        ("\\x{41}", "A"),
        ("r\\'m", "r'm"),
        ("rm\\0hidden", "rm"),
        ("\\cA", "\x01"),
        ("\\U7fffffff", "\ufffd"),
        ("\\z", "\\z"),
    ],
)
def test_escapes_are_read_as_bash_does(written, read):
    assert decode_ansi(written) == read


# --- options --------------------------------------------------------------------------------------

_ROOT, _ANY_WORDS = _words("echo x")


def _arguments(*texts):
    return [
        Argument(_ANY_WORDS[1], text, text, is_single=True, is_calm=text == "-" or text[:1] != "-")
        for text in texts
    ]


@pytest.mark.parametrize(
    ("texts", "options", "operands"),
    [
        (("-uo", "f", "a"), [("u", None), ("o", "f")], ["a"]),
        (("a", "-of"), [("o", "f")], ["a"]),
        (("--outp=f",), [("output", "f")], []),
        (("--output", "f", "b"), [("output", "f")], ["b"]),
        (("--", "-o", "f"), [], ["-o", "f"]),
        (("-",), [], ["-"]),
        (("-y", "a"), [("y", None)], ["a"]),
        (("-yb", "a"), [("y", "b")], ["a"]),
    ],
)
def test_options_are_read_as_getopt_does(texts, options, operands):
    parsed = parse(_arguments(*texts), grammar("uo:y::", "output: unique"))

    assert [(one.name, one.value.text if one.value else None) for one in parsed.options] == options
    assert [one.text for one in parsed.operands] == operands
    assert not parsed.doubtful
    assert not parsed.unknown


def test_an_abbreviation_counts_as_everything_it_may_mean():
    parsed = parse(_arguments("--o"), grammar("", "output: older"))

    assert [one.name for one in parsed.options] == ["output", "older"]


def test_options_end_at_the_first_operand_where_they_do():
    parsed = parse(_arguments("-u", "a", "-o", "f"), grammar("uo:", stops=True))

    assert [one.text for one in parsed.operands] == ["a", "-o", "f"]


def test_an_option_that_no_table_lists_is_told():
    parsed = parse(_arguments("-z", "--zero"), grammar("u", "unique"))

    assert [one.name for one in parsed.unknown] == ["z", "zero"]


# --- values ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("script", "traits"),
    [
        ('x=$1; echo "$x"', Trait.CALM | Trait.TIDY | Trait.INERT),
        ('x=-o; echo "$x"', Trait.INERT),
        ('x="a -o"; echo "$x"', Trait.CALM | Trait.INERT),
        ('x=$(jq . "$1"); echo "$x"', Trait.INERT),
        ('x=5; echo "$x"', ~Trait(0)),
        ('x=5; ((x++)); echo "$x"', ~Trait(0)),
        ('x=$(wc -l < "$1"); echo "$x"', ~Trait(0)),
        ('x=y; y=-z; x=$y; echo "$x"', Trait.INERT),
        ('x=$y; y=$x; y=-o; echo "$x"', Trait.INERT),
        ('read -r x; echo "$x"', Trait.INERT),
        ("x='a[1]'; echo \"$x\"", Trait.CALM),
        ("x=$(printf 'a[%s' b); echo \"$x\"", Trait(0)),
        ('set -- -o; echo "$1"', Trait.INERT),
        ('echo "${#x}"', ~Trait(0)),
        ('x=ab; echo "${x#a}"', Trait.INERT),
        ('declare -n r=x; x=a; r=-o; echo "$x"', Trait.INERT),
    ],
)
def test_what_is_sure_of_a_value_comes_from_all_that_the_script_gives_it(script, traits):
    root, words = _words(script)
    facts = Facts()
    gather(root, TOP, facts)

    assert Values(facts).of(words[1], TOP) == traits


def test_chains_of_copies_without_end_are_sure_of_nothing():
    lines = [f"a{at}=$a{at + 1}" for at in range(50)]
    root, words = _words("\n".join([*lines, 'a50=x; echo "$a0"']))
    facts = Facts()
    gather(root, TOP, facts)

    assert Values(facts).of(words[1], TOP) == Trait(0)


# --- awk and sed ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "program",
    [
        "$3 > 10 { n++ } END { print n + 0 }",
        '{ print (a > b) > "/dev/stderr" }',
        '{ print a["x" > "y"] }',
        "{ if (a > b) print a; x = c > d }",
        "/[^/]*>/ { print }",
        '$0 ~ "a|b" || /c|d/ { gsub(/[|>]/, "") }',
        "{ x = a / b; y = c / d; print x / y }",
        "# print > x\n{ print }",
        'BEGIN { while ((getline line < "f") > 0) n++ }',
        "function f(x) { return x > 1 } { print f(1) }",
        "{ print $1, \\\n $2 }",
    ],
)
def test_a_plain_awk_program_is_harmless(program):
    assert awk.find_dangers(program, _SINKS) == []


@pytest.mark.parametrize(
    "program",
    [
        '{ print > "x" }',
        '{ print a, b >> "x" }',
        '{ print(a)(b) > "x" }',
        '{ print (a > b) > "x" }',
        '{ print > "/dev/stderr" "x" }',
        "{ print > $1 }",
        '{ print a,\n b > "x" }',
        '{ printf "%s", a > f }',
        '{ print | "sh" }',
        '"date" | getline',
        'BEGIN { "date" |& getline }',
        'BEGIN { system("date") }',
        'BEGIN { awk::system("date") }',
        '@load "filefuncs"',
        'BEGIN { f = "system"; @f() }',
        'if (1) /"/ ; system("x") #"',
        '/[/]"/; system("x") #"',
        'BEGIN { getline < "/inet/tcp/0/h/80" }',
        '{ print "unfinished }',
        "{ print length / 2 }",
    ],
)
def test_an_awk_program_that_writes_or_runs_something_is_told(program):
    assert awk.find_dangers(program, _SINKS)


@pytest.mark.parametrize(
    "script",
    [
        "1,5p",
        "s/w/x/g;s,e,w,I",
        "/w/,/e/{p;d}",
        "$!N;P;D",
        "s/a/\\/w x/",
        "a\\\nw text\n",
        "y/abc/wee/",
        ":a;s/x/y/;ta",
        "0~3!d;2,+4p;\\,w,p",
        "# w x\np",
        "w /dev/stdout",
        "s/[w]/e/w /dev/stderr",
        "r other",
        "5q;10Q1",
    ],
)
def test_a_plain_sed_script_is_harmless(script):
    assert sed.find_dangers(script, _SINKS) == []


@pytest.mark.parametrize(
    "script",
    [
        "w x",
        "1,5w x",
        "/a/!W x",
        "s/a/b/w x",
        "s/a/b/gpw x",
        "s/a/b/e",
        "1e date",
        "e",
        "{p;w x\n}",
        "a\\\ntext\nw x",
        "s,a,b,;w x",
        "s/[/]/w x",
        "\\ea\\e,\\,b,w x",
        "s/a/b",
        "1,p",
        "k",
        "y/a/",
    ],
)
def test_a_sed_script_that_writes_or_runs_something_is_told(script):
    assert sed.find_dangers(script, _SINKS)


# --- traps that were real holes -------------------------------------------------------------------


@pytest.mark.parametrize(
    "source",
    [
        # words
        "echo \"${x:-'$(touch y)'}\"",
        "cat <<E\n${x:-'$(touch y)'}\nE",
        "echo \"$(( '$(touch y)' ))\"",
        "{touch,y}",
        "t{ouch,} y",
        "[[ x == @($(touch y)) ]]",
        "echo $[$(touch y)1]",
        'echo "${x@P}"',
        'echo "${!x}"',
        "echo x > y{,}",
        "true\r\n",
        'echo "$\\\n(touch y)"',
        "true # remark\\\ntouch y",
        # arithmetic
        "x='a[$(touch y)]'; ((x))",
        "x='a[$(touch y)]'; [[ $x -eq 1 ]]",
        "x='$(touch y)'; v=\"a[$x]\"; echo $((v))",
        "[[ -v 'a[$(touch y)]' ]]",
        "test -v 'a[$(touch y)]'",
        "printf -v 'a[$(touch y)]' x",
        "unset 'a[$(touch y)]'",
        'unset "m[$k]"',
        "read 'a[$(touch y)]' <<< x",
        "declare 'a[$(touch y)]=1'",
        "declare -a x='($(touch y))'",
        'y=$(cat "$1"); declare -a x="$y"',
        'x=(); y=$(cat "$1"); declare x="$y"',
        "declare -n ref='a[$(touch y)]'",
        "OPTIND='a[$(touch y)]'",
        "let 'a[$(touch y)]=1'",
        "let x=1>y",
        'k=$(jq -r .k "$1"); v=([$k]=1)',
        "wait -p 'a[$(touch y)]'",
        # redirections
        ": > f; echo x 2<f >/dev/stderr",
        "exec 1<f",
        '{ echo x >/dev/stdout; } <"$1" >&0',
        'exec 3<"$1"; { echo x >/dev/stdout; } >&3',
        "exec 3>&4 4>&5",
        "exec 03>y; echo >&3",
        "f() { :; } > y",
        "exec 2>&-; cat x > /dev/stderr",
        "f() { awk '{ print > \"/dev/fd/2\" }' x; }; f 2>&-",
        "exec 4<&2-; echo x | tee /dev/stderr",
        "cat <<E\nE\\\nF\n$(touch y)\nE",
        "x=$(cat <<'E'\nE: >y)\nE\n)",
        # names
        "PATH=/x",
        "export PATH+=:/x",
        "read -r PATH <<< /x",
        "printf -v PATH /x",
        "for PATH in /x; do :; done",
        ": ${PATH:=/x}",
        "(( PATH = 1 ))",
        "unset PATH",
        "declare -n r=PATH",
        'declare "$n=1"',
        "env LD_PRELOAD=x jq .",
        "BASH_CMDS[jq]=/x",
        "PS4='$(touch y)'",
        "printf -v PS4 x",
        # commands
        "jq() { :; }",
        'set -- touch y; "$@"',
        "$0 x",
        "./x",
        "../bin/jq .",
        "time -- touch y",
        "coproc A=1 touch y",
        "coproc 2>&1 touch y",
        "env - touch y",
        "env -S 'touch y'",
        "exec -a jq touch y",
        "xargs -I{} {} y",
        "find . -okdir touch y ';'",
        'f() { sort "$@"; }; f -oy',
        'o="-k1 -oy"; sort $o',
        'sort "$(jq -r .f "$1")"',
        "x86_64 touch y",
        "python3.11 -c 1",
        "set -k",
        "set -o posix",
        "shopt -s expand_aliases",
        "trap 'trap \"rm y\" EXIT' USR1",
        "trap $'true #\\\\\\ntouch y' EXIT",
        "compgen -W '$(touch y)'",
        "jobs -x touch y",
        "mapfile -C touch rows",
        "history -a y",
        "command builtin eval x",
        "curl -w '%output{y}x' https://example.org",
        "git -c alias.x=!y x",
        "tar xf a.tar",
        "env " * 50 + "true",
    ],
)
def test_a_way_around_is_closed(source):
    assert _codes(source) & {_WRITE, _DYNAMIC, "grader-shell-too-complex"}


@pytest.mark.parametrize(
    "source",
    [
        'echo "${x:-"a b"}" "${x%\'"\'}" ${x:+\'y\'}',
        'sed -n "${i}p" "$1"; i=$((i + 1))',
        'f=$1; sort "$f"; sort -t, -k1 -- "$f" | uniq -c',
        'm=(1 2); declare -A n=([$k]=1); echo "${m[$i]}" "${n[$k]}"',
        "[[ -v m[$k] ]]",
        "((m[$k]++)) || true",
        'g() { local -n out=$1; out=5; }; g result; echo "$result"',
        'exec 3>&2 4>&3; echo x >&4; exec {fd}<"$1"; read -r l <&"$fd"',
        'coproc J { jq . ; }; echo x >&"${J[1]}"',
        'cat <<-E\n\t$(jq . "$1")\n\tE',
        'IFS=, read -ra parts <<< "$line"; printf -v out "%s" "${parts[@]}"',
        'tar -xOf "$1" | gzip -dc | tar tf -',
        "curl -so /dev/null https://example.org",
        'find . -name "*.x" -exec grep -c x {} +',
        "xargs -0 -n1 printf '%s\\n'",
        "trap 'echo done >&2' EXIT; trap cleanup INT; cleanup() { :; }",
        'env LC_ALL=C nice -n 5 timeout 5 sort "$1"',
        "PS4='+ ${LINENO}: '; set -x",
        'jq . "$1" 2>&- >/dev/null',
    ],
)
def test_what_an_evaluator_needs_is_not_refused(source):
    assert _errors(source) == []


# --- warnings -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("source", "code"),
    [
        ("request=$(cat)", "grader-shell-legacy-stdin"),
        ("read -r line", "grader-shell-legacy-stdin"),
        ("jq -r .type", "grader-shell-legacy-stdin"),
        ("input=$(</dev/stdin)", "grader-shell-legacy-stdin"),
        ('jq .event.number "$1"', "grader-shell-legacy-request"),
        ("jq -r '.outputs[0]' \"$1\"", "grader-shell-legacy-request"),
        ("gh api repos/a/b", "grader-shell-fetch"),
        ("git log -1", "grader-shell-fetch"),
        ("grep -rn TODO .", "grader-shell-checkout-scan"),
        ("cat README.md", "grader-shell-checkout-scan"),
        ("unheard_of x", "grader-shell-unknown-command"),
    ],
)
def test_what_an_author_may_not_have_meant_is_a_warning(source, code):
    assert _warnings(source) == {code}
    assert not _errors(source)


@pytest.mark.parametrize(
    "source",
    [
        'jq .data.run "$1" | cat',
        "jq '{run: .data, event: .type}' \"$1\"",
        'while read -r line; do :; done < "$1"',
        'f() { cat; }; f < "$1"',
        "jq -n '1'",
        "curl --version",
        'cat "$1"; cat /dev/null',
    ],
)
def test_what_an_author_means_is_no_warning(source):
    assert _warnings(source) == set()


# --- limits ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "source",
    ["(" * 5000, "{ " * 5000, "echo " + "$(" * 200 + ")" * 200, "true && " * 5000 + "true"],
)
def test_a_script_that_is_nested_without_end_is_refused(source):
    assert _codes(source) & {"grader-shell-too-complex", "grader-shell-syntax"}


def _ordinary():
    block = """
count_{} () {{
  local kind=$1 total=0 line
  while IFS= read -r line; do
    if [[ $line == *"$kind"* ]]; then total=$((total + 1)); fi
  done < <(jq -c 'select(.type == "tool.execution_start") | .data' "$session_file")
  printf '%s\\n' "${{total:-0}}"
}}
value=$(count_{} "a" | sort -u | head -n 1)
case $value in '' | null) value=0 ;; [0-9]*) ((sum += value)) || true ;; esac
awk -F'\\t' '$3 > 10 {{ n++ }} END {{ print n + 0 }}' "$1" | sed -n '1,5p'
"""
    text = "session_file=$1\n"
    number = 0
    while len(text) + len(block) < 65_000:
        text += block.format(number, number)
        number += 1
    return text


@pytest.mark.parametrize(
    "source",
    [
        _ordinary(),
        "touch y\n" * 8000,
        "sort " + "$x " * 20_000,
        "echo " + "[" * 60_000,
        "echo " + "{," * 30_000,
        "".join(f"a{at}=$a{at + 1}\n" for at in range(3500)),
        "".join(f"exec {at}>&{at + 1}\n" for at in range(3, 3500)),
        "# " * 30_000 + "\\\n",
        "awk '" + "/[" * 30_000 + "'",
        "cat <<E\n" + "E\\\n" * 18_000 + "\nE\n",
    ],
    ids=lambda source: source[:12].split("\n")[0],
)
def test_the_largest_script_is_read_quickly(source):
    before = time.process_time()
    analyse_bash(source.encode())

    assert time.process_time() - before < _SECONDS * _SHARE_OF_A_BUSY_MACHINE


# --- tables ---------------------------------------------------------------------------------------


def test_every_known_command_is_a_plain_name():
    assert [name for name in MODELS if "/" in name or not name] == []


def test_names_with_a_version_are_known_by_their_family():
    assert is_known("python3.11")
    assert not is_known("pythonic")


def test_doubtful_bytes_are_told_where_they_stand():
    (found,) = find_doubts("é\recho\n".encode())

    assert (found.line, found.column) == (1, 3)
    assert list(find_doubts(b"echo 'a' | cat &&\\\ntrue\n")) == []
