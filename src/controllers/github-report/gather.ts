// What a report must know, as plain values: what it is about, and the grant of the object that is followed. From caches; the
// values of AppSecrets, which must not stand on GitHub, from the API server. Never writes.
import type { GitHubReport } from '../../api/apps/github-report.ts'
import { secrets } from '../../api/builtin/index.ts'
import type { Installation } from '../../api/github/installation.ts'
import type { RepositoryGrant } from '../../api/github/repository-grant.ts'
import { appSecretSecretName } from '../../api/names.ts'
import type { ObjectKey } from '../../api/resource.ts'
import { bindingSecretName, confidentialBindingKeys } from '../../api/services/binding-secret.ts'
import type { Cache } from '../../kube/cache/object-cache.ts'
import type { KubeClient } from '../../kube/client/client.ts'
import type { Clock } from '../../lib/clock.ts'
import { createCleanText } from '../../services/builds/logs/clean-text.ts'
import { ownedGrantName } from '../kit/repository/owned-grant.ts'
import type { Situation } from './answer/situation.ts'
import { type Subject, type SubjectCaches, type SubjectDeps, subjectOf } from './subject.ts'

export type ReportCaches = SubjectCaches & {
  readonly reports: Cache<GitHubReport>
  readonly installations: Cache<Installation>
  readonly grants: Cache<RepositoryGrant>
}

export type Facts = {
  readonly report: GitHubReport | undefined
  /** Undefined when it does not exist any more, or is not to be reported on (any more). */
  readonly subject: Subject | undefined
  readonly grant: RepositoryGrant | undefined
  readonly installation: Installation | undefined
  readonly now: Date
}

export type GatherDeps = SubjectDeps & {
  readonly caches: ReportCaches
  readonly clock: Pick<Clock, 'now'>
}

/** `latest`: the newer of the cached report and the last own write of it. */
export function gather(deps: GatherDeps, key: ObjectKey, latest: (report: GitHubReport) => GitHubReport): Facts {
  const { caches, clock } = deps
  const cached = caches.reports.get(key)
  const report = cached === undefined ? undefined : latest(cached)
  const subject = subjectOf(deps, key, report)
  const follower = subject?.follower
  const { namespace = '' } = key
  return {
    report,
    subject,
    grant: follower && caches.grants.get({ namespace, name: ownedGrantName(follower) }),
    installation: follower && caches.installations.get({ namespace, name: follower.spec.installation }),
    now: clock.now(),
  }
}

/**
 * The situation without values of AppSecrets and credentials of services in its message, which may become public.
 * @throws KubeError when a Secret cannot be read: nothing is written then
 */
export async function withoutSecrets(
  client: Pick<KubeClient, 'get'>,
  { situation, secrets: names, bindings, context }: Subject,
): Promise<Situation | undefined> {
  if (situation?.message === undefined) return situation
  const { namespace } = context
  const found = await Promise.all(
    [...new Set(names)].map(name => client.get(secrets, { namespace, name: appSecretSecretName(name) })),
  )
  const credentials = await Promise.all(bindings.map(name => client.get(secrets, { namespace, name: bindingSecretName(name) })))
  const values = [
    ...found.flatMap(secret => Object.values(secret?.data ?? {})),
    ...credentials.flatMap(secret => confidentialBindingKeys.flatMap(key => secret?.data?.[key] ?? [])),
  ].map(value => Buffer.from(value, 'base64').toString('utf8'))
  return { ...situation, message: createCleanText(values)(situation.message) }
}
