// What the buildpacks of the platform, the lifecycle and the registry say.
import { toldIn } from '../first-error.ts'
import { type CleanLog, group, type Rule } from '../rule.ts'

/** A sentence that a buildpack of the platform wrote for the owner. That a command failed is said of what it printed. */
const stated: Rule = {
  pattern: /^sekisho\/\w+: error: (?!.* failed with exit code \d+$|.* was ended by SIG\w+$)(.+)$/m,
  say: match => group(match, 1),
}

/** What the command wrote: after the line in which the buildpack names it. */
function outputOf({ lines }: CleanLog, failed: string): readonly string[] {
  const end = lines.indexOf(failed)
  const begin = lines.findLastIndex((line, at) => at < end && /^sekisho\/\w+: /.test(line))
  return lines.slice(begin + 1, end)
}

const commandFailed: Rule = {
  pattern: /^sekisho\/\w+: error: (.+ (?:failed with exit code \d+|was ended by SIG\w+))$/m,
  say: (match, log) => `${group(match, 1)}${toldIn(outputOf(log, match[0]))}`,
}

const languages =
  'Node.js needs a package.json, Python a requirements.txt or pyproject.toml, a static site an index.html; other languages need a Dockerfile (spec.build.strategy) or another builder (spec.build.builder)'

const nothingDetected: Rule = {
  pattern: /No buildpack groups passed detection/m,
  say: (_match, { text }) => {
    const tried = [...text.matchAll(/^fail:\s+(\S+?)@/gm)].map(match => match[1] ?? '')
    const own = tried.length === 0 || tried.some(name => name.startsWith('sekisho/'))
    const what = own ? languages : `this builder has ${[...new Set(tried)].join(', ')}`
    return `no buildpack can build this folder, in which none of the files is that they look for: ${what}; check spec.subPath`
  },
}

const registryRules: readonly Rule[] = [
  {
    pattern:
      /\b(?:507 Insufficient Storage|insufficient storage|quota (?:has been )?exceeded|TOOMANYREQUESTS|toomanyrequests)\b/im,
    say: match => `the image registry does not take the image (${match[0]}): a platform admin has to make room in it`,
  },
]

/** Before all others: what is said here is not a guess. */
export const statedRules: readonly Rule[] = [stated, nothingDetected, ...registryRules]

/** After all others. */
export const generalRules: readonly Rule[] = [commandFailed]
