// What a person may see and do in the namespace of a tenant: one batch of questions to RBAC, with the user name and the groups
// of the person's token. RBAC is the only source of rights: a section of a page is there exactly when `kubectl` would show the
// same to this person.
import { appPipeline } from '../../api/apps/app-pipeline.ts'
import { application } from '../../api/apps/application.ts'
import { release } from '../../api/apps/release.ts'
import { remoteSync } from '../../api/apps/remote-sync.ts'
import { grantApproval } from '../../api/github/grant-approval.ts'
import { installation } from '../../api/github/installation.ts'
import { repositoryGrant } from '../../api/github/repository-grant.ts'
import { buildLogAccess } from '../../api/names.ts'
import { bucket } from '../../api/services/bucket.ts'
import { serviceInstance } from '../../api/services/service-instance.ts'
import { tenant } from '../../api/tenancy/tenant.ts'
import type { AccessQuestion, AccessReviews } from '../people/access-reviews.ts'
import type { Identity } from '../people/tenant-access.ts'

type Verb = 'get' | 'list' | 'patch' | 'create'
type Kind = { readonly group: string; readonly plural: string }

const on = ({ group, plural }: Kind, verb: Verb, namespace: string): AccessQuestion => ({
  group,
  resource: plural,
  verb,
  namespace,
})

/** By the name of what it allows. `tenantName` is asked about also when there is no such Tenant. */
const questions = (namespace: string, tenantName: string) => ({
  tenant: { group: tenant.group, resource: tenant.plural, verb: 'get', name: tenantName },
  installations: on(installation, 'list', namespace),
  applications: on(application, 'list', namespace),
  releases: on(release, 'list', namespace),
  services: on(serviceInstance, 'list', namespace),
  buckets: on(bucket, 'list', namespace),
  remoteSyncs: on(remoteSync, 'list', namespace),
  pipelines: on(appPipeline, 'list', namespace),
  builds: { ...buildLogAccess, namespace },
  grants: on(repositoryGrant, 'list', namespace),
  changeApplications: on(application, 'patch', namespace),
  changePipelines: on(appPipeline, 'patch', namespace),
  answerGrants: on(grantApproval, 'create', namespace),
})

/** Whether RBAC allows it. */
export type TenantAccess = Readonly<Record<keyof ReturnType<typeof questions>, boolean>>

/** Before RBAC was asked. */
export const noAccess: TenantAccess = {
  tenant: false,
  installations: false,
  applications: false,
  releases: false,
  services: false,
  buckets: false,
  remoteSyncs: false,
  pipelines: false,
  builds: false,
  grants: false,
  changeApplications: false,
  changePipelines: false,
  answerGrants: false,
}

/** Asks all at once; what is allowed counts for ten seconds. Rejects with `unavailable` when the API server does not answer. */
export async function accessOf(
  reviews: AccessReviews,
  identity: Identity,
  { namespace, tenantName }: { readonly namespace: string; readonly tenantName: string },
): Promise<TenantAccess> {
  const asked = Object.entries(questions(namespace, tenantName))
  const answers = await Promise.all(asked.map(async ([name, question]) => [name, await reviews.allows(identity, question)]))
  return Object.fromEntries(answers) as TenantAccess
}

/** Whether RBAC shows the person anything at all. */
export function seesAnything({ changeApplications: _, changePipelines: __, answerGrants: ___, ...seen }: TenantAccess): boolean {
  return Object.values(seen).includes(true)
}

/** Whether all Tenants may be listed, as platform admins and auditors of the platform may. */
export const listQuestion: AccessQuestion = { group: tenant.group, resource: tenant.plural, verb: 'list' }

/** Whether one Application may be read. */
export function applicationQuestion(namespace: string, name: string): AccessQuestion {
  return { ...on(application, 'get', namespace), name }
}
