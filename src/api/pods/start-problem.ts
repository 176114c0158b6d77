// Why a container cannot start, from what the kubelet and the container runtime say: the program is not in the image, the image
// runs as root, or something that the environment refers to does not exist. Pure. The texts are those of containerd, runc and
// Kubernetes 1.34.
import { applicationReasons as reasons } from '../apps/application.ts'
import { appSecretPrefix } from '../names.ts'
import { bindingSecretPrefix } from '../services/binding-secret.ts'
import { type PodProblem, problem } from './problem.ts'

/**
 * `exec: "sh": executable file not found in $PATH`, `exec: "/run.sh": stat /run.sh: no such file or directory`, `… permission
 * denied`.
 */
const programMissing =
  /exec: "?(?<program>[^":]{1,200})"?: (stat [^:]*: )?(?<cause>executable file not found|no such file or directory|permission denied|is a directory)/
const namedUser = /image has non-numeric user \((?<user>[^)]{1,64})\)/
const runsAsRoot = /will run as root|non-numeric user|runAsNonRoot/
/** `configmap "settings" not found`, `secret "appsecret-shop" not found`. */
const objectMissing = /(?<kind>configmap|secret) "(?<name>[^"]{1,253})" not found/i
/** `couldn't find key A in ConfigMap acme/settings`. */
const keyMissing = /couldn't find key (?<key>\S{1,253}) in (?<kind>ConfigMap|Secret) [^/\s]+\/(?<name>\S{1,253})/

const shells = new Set(['sh', 'bash', '/bin/sh', '/bin/bash', '/usr/bin/sh', '/usr/bin/bash'])

export type MissingProgram = {
  readonly program: string
  /** Of the runtime. */
  readonly cause?: string
  /** In an image of buildpacks, from which packages for development were removed. */
  readonly isPruned: boolean
}

export function programProblem(process: string, { program, cause, isPruned }: MissingProgram): PodProblem {
  const correct = 'correct command in spec.processes or spec.cron, with a path that exists in the image'
  const pruned = 'programs of devDependencies are removed after a build by buildpacks: move its package to dependencies'
  const [what, cure] =
    cause === 'permission denied' || cause === 'is a directory'
      ? [`${program} in the image cannot be executed (${cause})`, 'make it executable in the build']
      : shells.has(program)
        ? [
            `the image has no shell (${program})`,
            'give the program itself as command, such as ["/app/server"], or build from an image with a shell',
          ]
        : [`the image has no program ${program}`, isPruned ? `${pruned}; or ${correct}` : correct]
  return problem(reasons.commandNotFound, `process ${process} cannot start: ${what}`, cure)
}

/** A Secret of an AppSecret or a ServiceBinding is named as that: people know no other. */
function sourceOf(kind: string, name: string): string {
  if (kind.toLowerCase() === 'configmap') return `ConfigMap ${name}`
  if (name.startsWith(bindingSecretPrefix)) return `ServiceBinding ${name.slice(bindingSecretPrefix.length)}`
  return name.startsWith(appSecretPrefix) ? `AppSecret ${name.slice(appSecretPrefix.length)}` : `Secret ${name}`
}

/** New pods name a user of their tenant, so that only older ones are refused by the kubelet. */
const restart = 'restart the Application by spec.restartedAt: new pods run as a user of the tenant'

function userProblem(process: string, message: string): PodProblem {
  const user = namedUser.exec(message)?.groups?.['user']
  const [cause, cure] =
    user === undefined
      ? ['the image runs as root', `${restart}; or set USER in the Dockerfile to a number other than 0, such as 1000`]
      : [
          `USER of the image is a name (${user}), and Kubernetes needs its number to see that it is not root`,
          `write the number in the Dockerfile, such as USER 1000; or ${restart}`,
        ]
  return problem(reasons.imageRunsAsRoot, `process ${process} cannot start, because ${cause}`, cure)
}

/** The problem that a message of the kubelet or the runtime is about, never a log; undefined for another one. */
export function startProblem(process: string, message: string): PodProblem | undefined {
  const program = programMissing.exec(message)?.groups
  if (program)
    return programProblem(process, { program: program['program'] ?? '', cause: program['cause'] ?? '', isPruned: false })
  if (runsAsRoot.test(message)) return userProblem(process, message)
  const key = keyMissing.exec(message)?.groups
  if (key) {
    const source = sourceOf(key['kind'] ?? '', key['name'] ?? '')
    const cause = `process ${process} waits: ${source} has no key ${key['key']}`
    return problem(reasons.environmentIncomplete, cause, 'add it there, or correct spec.env')
  }
  const object = objectMissing.exec(message)?.groups
  if (!object) return undefined
  const source = sourceOf(object['kind'] ?? '', object['name'] ?? '')
  const cause = `process ${process} waits: there is no ${source}`
  return problem(reasons.environmentIncomplete, cause, 'create it, or correct spec.env and spec.envFrom')
}

/** The exit code of the buildpacks' launcher when it cannot start the program. */
const launcherFailed = 82

/**
 * The problem of a program that the launcher did not find: that of its command (`inLauncher` in
 * src/controllers/application/image/contents.ts), or of a process of the image, which stands in its log. Undefined for any other
 * exit.
 */
export function launcherProblem(
  process: string,
  command: readonly string[] | undefined,
  { exitCode, message = '' }: { readonly exitCode: number; readonly message?: string },
): PodProblem | undefined {
  if (exitCode !== launcherFailed) return undefined
  const [first, separator, named] = command ?? []
  const program =
    first === '/cnb/lifecycle/launcher' && separator === '--' ? named : programMissing.exec(message)?.groups?.['program']
  return program === undefined ? undefined : programProblem(process, { program, isPruned: true })
}
