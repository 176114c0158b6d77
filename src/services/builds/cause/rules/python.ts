// What pip and Python say.
import { toldIn } from '../first-error.ts'
import { group, type Rule } from '../rule.ts'

/** The project itself: its pyproject.toml, and what builds it. */
const projectRules: readonly Rule[] = [
  {
    pattern: /Building a package is not possible in non-package mode/m,
    say: () =>
      'pyproject.toml says package-mode = false, and pip installs packages only: commit a requirements.txt (poetry export -o requirements.txt), or remove package-mode',
  },
  {
    pattern: /BackendUnavailable: (?:.*\n){0,40}?ModuleNotFoundError: No module named '(.+?)'/m,
    say: match =>
      `pyproject.toml: build-backend ${group(match, 1)} is in none of the packages of build-system.requires: correct one of the two`,
  },
  {
    pattern: /\bTOMLDecodeError: (.+)$/m,
    say: match => `pyproject.toml is not valid TOML: ${group(match, 1)}`,
  },
  {
    pattern: /Multiple top-level packages discovered in a flat-layout: \[(.+?)\]/m,
    say: match =>
      `setuptools does not know which of the folders ${group(match, 1).replaceAll("'", '')} is the package: name them in [tool.setuptools] packages of pyproject.toml, or write a requirements.txt for an application that is no package`,
  },
  {
    pattern: /LookupError: setuptools-scm was unable to detect version/m,
    say: () =>
      'the version comes from git (setuptools-scm), and a build has the files of the commit only: set SETUPTOOLS_SCM_PRETEND_VERSION in spec.build.env, or write the version into pyproject.toml',
  },
  {
    pattern: /^ERROR: Could not open requirements file: .* No such file or directory: '(.+?)'/m,
    say: match =>
      `requirements.txt refers to ${group(match, 1)}, and there is no such file: correct the line with -r or -c; names are case-sensitive`,
  },
  {
    pattern: /^ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM THE REQUIREMENTS FILE.*\n\s+(\S+)/m,
    say: match =>
      `${group(match, 1)} is not the file whose hash requirements.txt names: when the registry is the right one, write the hashes anew (pip-compile --generate-hashes)`,
  },
  {
    pattern: /File "(?:<frozen os>|[^"\n]{0,200}\/os\.py)", line \d+, in __getitem__\n(?:.*\n){0,3}?\s*KeyError: '(\w+)'$/m,
    say: match =>
      `the environment variable ${group(match, 1)} is not set in the build: set it in spec.build.env, or let the code do without it while it is built`,
  },
]

export const pythonRules: readonly Rule[] = [
  ...projectRules,
  {
    pattern: /\bpg_config executable not found/m,
    say: () =>
      'psycopg2 must be compiled, and there is no pg_config of PostgreSQL: list libpq-dev in a file Aptfile, or write psycopg2-binary in place of psycopg2',
  },
  {
    pattern: /Package '(.+?)' requires a different Python: (\S+) not in '(.+?)'/m,
    say: match =>
      `${group(match, 1)} requires Python ${group(match, 3)}, and this builder has ${group(match, 2)}: change requires-python, use another version of the package, or another builder (spec.build.builder)`,
  },
  {
    pattern: /^ERROR: No matching distribution found for (.+?)(?: \(from .*)?$/m,
    say: (match, { text }) => {
      const none = /\(from versions: none\)/.test(text)
      return none
        ? `the registry has no package ${group(match, 1)} for this Python: correct its name in requirements.txt`
        : `the registry has no version that matches ${group(match, 1)}: correct the version in requirements.txt`
    },
  },
  {
    pattern: /^ERROR: Cannot install (.+?) because these package versions have conflicting dependencies/m,
    say: (match, { text }) => {
      const detail = /^\s+(\S+ \S+ depends on .+)$/m.exec(text)?.[1]
      return `requirements exclude each other: ${group(match, 1)}${detail === undefined ? '' : `; ${detail.trim()}`}: choose versions that fit in requirements.txt`
    },
  },
  {
    pattern: /^ERROR: Invalid requirement: ['"](.+?)['"]/m,
    say: (match, { text }) => {
      const place = /\(from line (\d+) of (\S+?)\)/.exec(text)
      return `requirements.txt${place === null ? '' : `, line ${group(place, 1)}`}: "${group(match, 1)}" is not a requirement: write for example "flask==3.0.0"`
    },
  },
  {
    pattern:
      /error: [Cc]ommand '(?:\[')?(\S*(?:gcc|cc|g\+\+|clang))\S*|No such file or directory: '\S*(?:gcc|cc|g\+\+|clang)'|unable to execute '(\S+)'|Unknown compiler\(s\)/m,
    say: (match, { text, lines }) => {
      const name =
        /(?:Could not build wheels for|Failed building wheel for|ERROR: Failed to build installable wheels for some pyproject\.toml based projects \()\s*([\w.-]+)/.exec(
          text,
        )?.[1]
      const [, header, library] = /fatal error: (\S+): No such file or directory|cannot find -l([\w.+-]+)/.exec(text) ?? []
      const missing = header ?? (library === undefined ? undefined : `the library ${library}`)
      if (missing !== undefined)
        return `${name ?? 'a package'} must be compiled and needs ${missing}: list the package of Debian that has it in a file Aptfile, or use a version with a wheel for this Python`
      if (match[1] !== undefined) return `${name ?? 'a package'} could not be compiled${toldIn(lines)}`
      return `${name ?? 'a package'} must be compiled, and the builder has no compiler: use a version with a wheel for this Python (--only-binary shows it), or build with a Dockerfile`
    },
  },
  {
    // With the place that Python prints above it; Node.js has errors of the same name.
    pattern: /File "(.+?)", line (\d+)\n(?:.*\n){0,4}\s*(?:SyntaxError|IndentationError|TabError): (.+)$/m,
    say: match => {
      // setuptools runs setup.py from memory.
      const file = group(match, 1) === '<string>' ? 'setup.py' : group(match, 1).replace(/^\/workspace\//, '')
      return `Python syntax error in ${file}, line ${group(match, 2)}: ${group(match, 3)}`
    },
  },
  {
    pattern: /^\s*ModuleNotFoundError: No module named '(.+?)'/m,
    say: match => `the Python package of module ${group(match, 1)} is not installed: add it to requirements.txt`,
  },
]
