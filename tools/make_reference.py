# Copyright the vlearn authors
# SPDX-License-Identifier: Apache-2.0
"""Writes docs/reference/cli.md and docs/reference/formats.md from what they describe.

VLEARN=build/release/vlearn .venv/bin/python tools/make_reference.py

writes both; with --check it says whether they are true, and writes nothing.

cli.md has the help of every command and sub-command, as the command that VLEARN names prints it;
formats.md a table for each JSON schema of docs/reference/schema, and all names of formats that the
sources have, each with the page that describes it.
"""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
REFERENCE = ROOT / "docs" / "reference"
WRITTEN_BY = "<!-- Written by tools/make_reference.py: change what it is made of, not this. -->\n"
NAME = re.compile(r"\bvlearn\.[a-z][a-z-]*/[0-9]+\b")

# Which page says most about a format. Those that are missing stand in formats.md without a page.
PAGES = {
    "vlearn.baseline/1": "run_folder.md#a-game-that-a-baseline-learned",
    "vlearn.baseline-config/1": "run_folder.md#a-game-that-a-baseline-learned",
    "vlearn.bench/1": "cli.md#vlearn-bench",
    "vlearn.certificate/1": "certificate.md",
    "vlearn.checkpoint/2": "run_folder.md#going-on",
    "vlearn.config/1": "run_folder.md",
    "vlearn.compare/1": "cli.md#vlearn-compare",
    "vlearn.convergence/1": "../experiments.md#where-best-replies-go-in-circles",
    "vlearn.convergence-results/1": "../experiments.md#where-best-replies-go-in-circles",
    "vlearn.curse/1": "../experiments.md",
    "vlearn.curse-results/1": "../experiments.md",
    "vlearn.deviate/1": "deviate.md",
    "vlearn.doctor/1": "cli.md#vlearn-doctor",
    "vlearn.efficiency/1": "../sample_efficiency.md",
    "vlearn.efficiency-results/1": "../sample_efficiency.md",
    "vlearn.game/1": "game_format.md",
    "vlearn.game-convert/1": "cli.md#vlearn-game-convert",
    "vlearn.game-show/1": "cli.md#vlearn-game-show",
    "vlearn.game-simulate/1": "cli.md#vlearn-game-simulate",
    "vlearn.game-validate/1": "cli.md#vlearn-game-validate",
    "vlearn.games/1": "cli.md#vlearn-games",
    "vlearn.law/1": "game_format.md",
    "vlearn.learn/1": "run_folder.md#columns-and-members",
    "vlearn.learn-seeds/1": "run_folder.md#columns-and-members",
    "vlearn.levers/1": "../sample_efficiency.md",
    "vlearn.markov/1": "markov_format.md",
    "vlearn.plan/1": "../algorithms.md#how-many-episodes-the-theorems-ask-for",
    "vlearn.play/1": "cli.md#vlearn-play",
    "vlearn.policy/1": "policy_format.md",
    "vlearn.policy-show/1": "policy_show.md",
    "vlearn.policy-table/1": "policy_show.md#vlearn-policy-table-run--o-file",
    "vlearn.regret/1": "../algorithms.md#bandit-rules-weighted-regret-measured",
    "vlearn.report/1": "../guides/read_the_report.md",
    "vlearn.seed/1": "policy_format.md",
    "vlearn.self-test/1": "cli.md#vlearn-self-test",
    "vlearn.signature/1": "../determinism.md",
    "vlearn.solve/1": "run_folder.md#a-game-that-was-planned",
    "vlearn.solve-config/1": "run_folder.md#a-game-that-was-planned",
    "vlearn.tables/1": "run_folder.md#arrays",
    "vlearn.verify/1": "certificate.md#verifying-one",
    "vlearn.version/1": "cli.md#vlearn",
}
SCHEMA_PAGES = {
    "vlearn.catalogue-1": "../guides/add_a_game.md#an-entry-of-the-catalogue",
    "vlearn.certificate-1": "certificate.md",
    "vlearn.config-1": "run_folder.md",
    "vlearn.game-1": "game_format.md",
    "vlearn.learn-1": "run_folder.md#columns-and-members",
}


def help_of(words):
    """What --help prints, which must not depend on the width of a terminal."""
    texts = [
        subprocess.run(
            [os.environ["VLEARN"], *words, "--help"],
            check=True,
            capture_output=True,
            text=True,
            env=os.environ | {"COLUMNS": columns, "NO_COLOR": "1"},
        ).stdout
        for columns in ("40", "200")
    ]
    if texts[0] != texts[1]:
        sys.exit(f"the help of {' '.join(['vlearn', *words])} depends on the width of the terminal")
    return texts[0].strip("\n") + "\n"


def subcommands_of(text):
    """The words that begin the lines of lists of sub-commands, the last parts of a help text."""
    found, inside = [], False
    for line in text.splitlines():
        if not line.startswith(" ") and line.strip():
            # "Subcommands:", or the title of a group of them.
            inside = line.endswith(":") and not re.match(
                r"(Options|Positionals|Examples|Usage|Everywhere)\b", line
            )
        elif inside and (word := re.match(r"  ([a-z][a-z-]*)(  +|$)", line)):
            found.append(word[1])
    return found


def is_command(words):
    """Whether the command knows this one: what looks like a command in a text may be none."""
    done = subprocess.run(
        [os.environ["VLEARN"], *words, "--help"], capture_output=True, text=True, check=False
    )
    usage = f"Usage: vlearn {' '.join(words)}"
    return done.returncode == 0 and usage in done.stdout


def commands(words=()):
    """All commands: the words and the help of each, parents first."""
    text = help_of(words)
    yield list(words), text
    if words and "SUBCOMMAND" not in text:
        return
    for word in subcommands_of(text):
        if is_command([*words, word]):
            yield from commands([*words, word])


def common_part(texts):
    """What the help of GAME has in common, which would stand on the page ten times."""
    begin = "GAME is a name of the catalogue"
    for text in texts:
        if begin in text:
            return text[text.index(begin) : text.index("\nUsage:")].strip("\n") + "\n"
    return ""


def cli_page():
    found = list(commands())
    games = common_part([text for _, text in found])
    lines = [
        "# The command line\n",
        WRITTEN_BY,
        "What `vlearn COMMAND --help` prints, of all commands. [Exit codes](exit_codes.md),",
        "[formats](formats.md) of what `--json` prints.\n",
    ]
    for words, _ in found:
        name = " ".join(["vlearn", *words])
        lines.append(f"{'  ' * max(len(words) - 1, 0)}- [`{name}`](#{name.replace(' ', '-')})")
    lines.append("\n## What GAME may be\n")
    lines.append(f"```text\n{games}```")
    for words, text in found:
        name = " ".join(["vlearn", *words])
        if games:
            text = text.replace(games + "\n", "").replace(games, "")
        lines.append(f"\n## {name}\n")
        lines.append(f"```text\n{text}```")
    return "\n".join(lines) + "\n"


def type_of(schema):
    """What kind of value a schema allows, in a few words."""
    if schema is False:
        return "not allowed"
    if "$ref" in schema:
        target = schema["$ref"].rsplit("/", 1)[-1]
        if schema["$ref"].startswith("#"):
            return f"[{target}](#{{page}}-{target.lower()})"
        return f"`{schema['$ref']}`"
    if "const" in schema:
        return f"`{json.dumps(schema['const'])}`"
    if "enum" in schema:
        return " or ".join(f"`{json.dumps(value)}`" for value in schema["enum"])
    for key in ("anyOf", "oneOf"):
        if key in schema and "type" not in schema:
            return " or ".join(type_of(part) for part in schema[key])
    kind = schema.get("type", "anything")
    if kind == "array" and "items" in schema:
        return f"list of {type_of(schema['items'])}"
    if kind in ("integer", "number"):
        return kind + range_of(schema)
    if kind == "string":
        return "text"
    if kind == "object" and isinstance(schema.get("additionalProperties"), dict):
        return f"object of {type_of(schema['additionalProperties'])}"
    return kind


def range_of(schema):
    words = []
    for key, sign in (
        ("minimum", "≥"),
        ("exclusiveMinimum", ">"),
        ("maximum", "≤"),
        ("exclusiveMaximum", "<"),
    ):
        # The largest integers of a format are limits of the program, not of the meaning.
        if key in schema and abs(schema[key]) < 2**40:
            words.append(f"{sign} {schema[key]}")
    return " " + ", ".join(words) if words else ""


def escaped(text):
    return text.replace("|", "\\|").replace("\n", " ")


def members_of(page, schema):
    """A table of the members of an object, or nothing."""
    properties = schema.get("properties", {})
    if not properties:
        return []
    required = set(schema.get("required", ()))
    lines = ["| member | value | meaning |", "|---|---|---|"]
    for name, value in properties.items():
        nested = value.get("properties") if isinstance(value, dict) else None
        kind = type_of(value).replace("{page}", page)
        mark = ", always there" if name in required else ""
        meaning = value.get("description", "") if isinstance(value, dict) else ""
        lines.append(f"| `{name}` | {escaped(kind)}{mark} | {escaped(meaning)} |")
        for inner, inner_value in (nested or {}).items():
            kind = type_of(inner_value).replace("{page}", page)
            meaning = inner_value.get("description", "")
            lines.append(f"| `{name}.{inner}` | {escaped(kind)} | {escaped(meaning)} |")
    return lines


def schema_part(file):
    name = file.name.removesuffix(".schema.json")
    schema = json.loads(file.read_text())
    body = schema if "properties" in schema else schema.get("then", {})
    page = name.replace(".", "").lower()
    lines = [
        f"\n## {name.replace('-1', '/1')}\n",
        f"{schema.get('description', schema['title'])}\n",
    ]
    described = SCHEMA_PAGES.get(name)
    links = f"[Schema](schema/{file.name})"
    lines.append(
        f"{links}; described in [{described.split('#')[0].removeprefix('../')}]({described}).\n"
        if described
        else links + ".\n"
    )
    lines += members_of(page, body)
    for key, value in schema.get("$defs", {}).items():
        lines.append(f'\n<a id="{page}-{key.lower()}"></a>**{key}**: ')
        kind = type_of(value).replace("{page}", page)
        text = value.get("description", "")
        lines[-1] += f"{text} {'(' + kind + ')' if kind != 'object' else ''}".strip()
        table = members_of(page, value)
        lines += ["", *table] if table else []
    return lines


def names_in_sources():
    found = {}
    for folder in ("include", "src", "apps"):
        for file in sorted((ROOT / folder).rglob("*")):
            if file.suffix in (".h", ".cpp"):
                for name in NAME.findall(file.read_text()):
                    found.setdefault(name, file.relative_to(ROOT))
    return dict(sorted(found.items()))


def formats_page():
    lines = [
        "# Formats\n",
        WRITTEN_BY,
        "Every file and every object that `--json` prints says what it is: `vlearn.NAME/VERSION`.",
        "Here are all names that the sources have, where each is described or which command prints",
        "it, and a table for each that has a JSON schema.\n",
        "| name | described in | schema |",
        "|---|---|---|",
    ]
    for name in names_in_sources():
        page = PAGES.get(name)
        schema = f"{name.replace('/', '-')}.schema.json"
        where = "nowhere yet"
        if page and page.startswith("cli.md#"):
            words = re.sub(r"^vlearn-(game-)?", lambda found: found[0].replace("-", " "), page[7:])
            where = f"printed by [`{words}`]({page})"
        elif page:
            where = f"[{page.split('#')[0].removeprefix('../')}]({page})"
        has = f"[schema](schema/{schema})" if (REFERENCE / "schema" / schema).exists() else ""
        lines.append(f"| `{name}` | {where} | {has} |")
    for file in sorted((REFERENCE / "schema").glob("*.schema.json")):
        lines += schema_part(file)
    return "\n".join(line.rstrip(" ") for line in lines) + "\n"


def main():
    pages = {REFERENCE / "cli.md": cli_page(), REFERENCE / "formats.md": formats_page()}
    if "--check" not in sys.argv[1:]:
        for file, text in pages.items():
            file.write_text(text)
        return 0
    stale = [file for file, text in pages.items() if not file.exists() or file.read_text() != text]
    for file in stale:
        name = file.relative_to(ROOT)
        print(f"{name} is not what it is made of: run tools/make_reference.py", file=sys.stderr)
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
