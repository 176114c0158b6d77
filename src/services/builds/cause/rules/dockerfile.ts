// What BuildKit says about a Dockerfile, and what the programs of dev/buildkit say. Its last line begins with `error: failed to
// solve:`; the output of RUN stands above it, so that what npm or pip say there is found by their own rules.
import { toldIn } from '../first-error.ts'
import { type CleanLog, group, type Rule } from '../rule.ts'

const solve = 'error: failed to solve: '

function rule(pattern: string, say: Rule['say']): Rule {
  return { pattern: new RegExp(`^${pattern}`, 'm'), say }
}

/** `FROM` and `COPY --from` of an image that a registry does not give. */
const unresolved = `${solve}(\\S+): failed to resolve source metadata for (\\S+): `

const baseImageRules: readonly Rule[] = [
  rule(
    `${unresolved}.*(?:429 Too Many Requests|toomanyrequests)`,
    match =>
      `the registry of image ${group(match, 1)} limits how often it may be asked: push again later, or name a copy of it in another registry`,
  ),
  rule(
    `${unresolved}.*(?:401 Unauthorized|403 Forbidden|insufficient_scope|authorization failed|pull access denied)`,
    match =>
      `the registry does not let this build read image ${group(match, 1)}: correct FROM (or COPY --from), or use an image that everybody may pull`,
  ),
  rule(
    `${unresolved}.*\\bnot found$`,
    match => `there is no image ${group(match, 1)}: correct FROM (or COPY --from) and its tag`,
  ),
  rule(
    `${unresolved}.*: (no such host|connection refused|i/o timeout|no route to host|network is unreachable)$`,
    match =>
      `${group(match, 1)} is neither a stage of the Dockerfile, nor an image that can be reached (${group(match, 3)}): correct FROM (or COPY --from)`,
  ),
]

const fileRules: readonly Rule[] = [
  rule(
    `${solve}failed to read dockerfile: open (.+): no such file or directory$`,
    match =>
      `there is no file ${group(match, 1)} in the folder of the application: add it, or correct spec.build.dockerfile.path or spec.subPath`,
  ),
  rule(
    `${solve}.*failed to calculate checksum of ref \\S+ "/(.+)": not found$`,
    match =>
      `COPY or ADD names ${group(match, 1)}, which is not in the folder of the application, or is left out by .dockerignore: correct the path; names are case-sensitive`,
  ),
  rule(
    'error: the folder (.*) is not in the repository$',
    match => `the repository has no folder ${group(match, 1)}: correct spec.subPath`,
  ),
]

const contentRules: readonly Rule[] = [
  rule(
    `${solve}target stage "(.+)" could not be found$`,
    match =>
      `the Dockerfile has no stage ${group(match, 1)}: correct spec.build.dockerfile.target, or name a stage so with FROM … AS`,
  ),
  rule(
    `${solve}dockerfile parse error on line (\\d+): (.+)$`,
    match => `line ${group(match, 1)} of the Dockerfile is not valid: ${group(match, 2)}`,
  ),
  rule(
    `${solve}base name \\((.+)\\) should not be blank$`,
    match => `FROM ${group(match, 1)} has no value: give ARG a default, or set it in spec.build.dockerfile.args`,
  ),
  rule(
    `${solve}(?:the Dockerfile cannot be empty|file with no instructions)`,
    () => 'the Dockerfile is empty: begin it with FROM',
  ),
  rule(
    `${solve}no build stage in current context$`,
    () => 'the Dockerfile has an instruction before the first FROM: begin it with FROM',
  ),
  rule(
    `${solve}failed to load cache key: invalid response status (\\d+)$`,
    match => `ADD names an address that answers ${group(match, 1)}: correct it`,
  ),
  rule(
    `${solve}secret (.+): not found$`,
    match =>
      `RUN --mount=type=secret asks for ${group(match, 1)}, which this build does not have: name the AppSecret with this key in spec.build.secrets`,
  ),
  rule(
    `${solve}failed to load LLB: (security\\.insecure|network\\.host) is not allowed$`,
    match => `RUN --${group(match, 1).replace('.', '=')} is not allowed: a build has no rights on its node; remove the option`,
  ),
]

const maxCommand = 120

function commandOf(match: RegExpExecArray): string {
  const command = group(match, 1)
    .replace(/^\/bin\/sh -c /, '')
    .replaceAll('\\"', '"')
  return command.length <= maxCommand ? command : `${command.slice(0, maxCommand)}…`
}

/** What the command wrote: after the line of its RUN, and before the one with which BuildKit begins to repeat it. */
function outputOf({ lines }: CleanLog): readonly string[] {
  const end = lines.findIndex(line => line.startsWith('ERROR: process "'))
  const begin = lines.findLastIndex((line, at) => at < end && /^\[.{1,200}\] RUN /.test(line))
  return lines.slice(begin + 1, Math.max(end, 0))
}

const failed = (code: string): string => `${solve}process "(.+)" did not complete successfully: exit code: ${code}$`

const programMissing = rule(
  failed('127'),
  (match, log) =>
    `RUN ${commandOf(match)} needs a program that the image does not have${toldIn(outputOf(log))}; install it in an earlier RUN`,
)

/** Before all others: they are the last words of the builder itself. */
export const dockerfileRules: readonly Rule[] = [...fileRules, ...contentRules, ...baseImageRules, programMissing]

/** After what the commands of RUN say themselves. */
export const failedRunRules: readonly Rule[] = [
  rule(
    failed('137'),
    match =>
      `RUN ${commandOf(match)} was killed, mostly because it needed more memory than the build may use: raise spec.build.resources.memory`,
  ),
  rule(
    failed('(\\d+)'),
    (match, log) => `RUN ${commandOf(match)} failed with exit code ${group(match, 2)}${toldIn(outputOf(log))}`,
  ),
]
