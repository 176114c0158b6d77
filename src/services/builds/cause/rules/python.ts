// What pip and Python say.
import { group, type Rule } from '../rule.ts'

export const pythonRules: readonly Rule[] = [
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
      /error: command '(\S*(?:gcc|cc|g\+\+|clang)\S*)' failed|No such file or directory: '\S*(?:gcc|cc|g\+\+|clang)'|unable to execute '(\S+)'|Unknown compiler\(s\)/m,
    say: (_match, { text }) => {
      const name =
        /(?:Could not build wheels for|Failed building wheel for|ERROR: Failed to build installable wheels for some pyproject\.toml based projects \()\s*([\w.-]+)/.exec(
          text,
        )?.[1]
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
