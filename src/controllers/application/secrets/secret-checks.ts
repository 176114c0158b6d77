// Which AppSecrets an Application uses, whether they have what it needs, and the hash by which a changed value restarts its
// pods. Pure. It knows names and versions only; values are in Secrets that this controller never reads.
import { hash } from 'node:crypto'
import type { AppSecret } from '../../../api/apps/app-secret.ts'
import { type SecretNaming, type SecretUse, secretUses } from '../../../api/apps/application/secret-uses.ts'
import { applicationReasons as reasons } from '../../../api/apps/application.ts'
import { secretsAnnotation } from '../../../api/names.ts'
import { findCondition } from '../../../kube/object/conditions.ts'
import type { Refusal } from '../../../policy/check.ts'

/** The AppSecrets that an Application uses, by name; undefined for one that does not exist or is being deleted. */
export type SecretFacts = ReadonlyMap<string, AppSecret | undefined>

/** Stops an Application that uses an AppSecret or a key that does not exist: its pods could not start. */
export function secretProblem(spec: SecretNaming, secrets: SecretFacts): Refusal | undefined {
  for (const use of secretUses(spec)) {
    const problem = problemOf(use, secrets.get(use.name))
    if (problem !== undefined) return { reason: reasons.secretNotFound, message: `${use.field}: ${problem}` }
  }
  return undefined
}

function problemOf({ name, key }: SecretUse, appSecret: AppSecret | undefined): string | undefined {
  if (appSecret === undefined)
    return `there is no AppSecret ${name}: create it by \`sekisho secrets set\` or \`kubectl apply\`, or remove the reference`
  const { status } = appSecret
  if (status?.version === undefined)
    return `AppSecret ${name} is not ready yet (${findCondition(status?.conditions, 'Ready')?.message ?? 'it was just created'})`
  if (key === undefined || status.keys?.some(known => known.name === key)) return undefined
  return `AppSecret ${name} has no key ${key}: set it by \`sekisho secrets set\`, or correct the reference`
}

/**
 * The versions of what the Application uses: by the name of an AppSecret, or `<name>/<key>` where it uses one key. The
 * beginning of the uid is in them, because the versions of an AppSecret that was deleted and made again begin anew.
 */
export function secretVersions(spec: SecretNaming, secrets: SecretFacts): Readonly<Record<string, string>> {
  return Object.fromEntries(
    secretUses(spec).map(({ name, key }) => {
      const appSecret = secrets.get(name)
      const { version, keys } = appSecret?.status ?? {}
      const used = key === undefined ? version : keys?.find(known => known.name === key)?.version
      return [key === undefined ? name : `${name}/${key}`, `${used ?? 0}-${appSecret?.metadata.uid?.slice(0, 8) ?? ''}`]
    }),
  )
}

/**
 * For the pod template: changes exactly when a value that the Application uses was changed, or a credential with one of the
 * `others` versions. Undefined when it uses none.
 */
export function secretAnnotations(
  spec: SecretNaming,
  secrets: SecretFacts,
  others: Readonly<Record<string, string>> = {},
): Readonly<Record<string, string>> | undefined {
  const versions = Object.entries({ ...secretVersions(spec, secrets), ...others }).map(entry => entry.join(' '))
  if (versions.length === 0) return undefined
  return { [secretsAnnotation]: hash('sha256', versions.sort().join('\n')).slice(0, 32) }
}
