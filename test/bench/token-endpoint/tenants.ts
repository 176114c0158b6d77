// Tenants as they are when a workload asks for a token: a ready Installation, an approved grant, a pod under a ServiceAccount and
// the token that the API server made for it. The statuses are written in the place of controllers, which do not run.
import type { AdminClient } from '../../../dev/cluster/control-plane/admin-client.ts'
import type { RunningEmulator } from '../../../dev/github/emulator.ts'
import { type Installation, installation } from '../../../src/api/github/installation.ts'
import { type RepositoryGrant, repositoryGrant } from '../../../src/api/github/repository-grant.ts'
import { tokenDeskAudience, userSubject } from '../../../src/api/names.ts'
import { tenant } from '../../../src/api/tenancy/tenant.ts'
import { createObject, trueCondition } from '../../fixtures/create-object.ts'
import { boundInstallation } from '../../fixtures/put-object.ts'
import { writeStatus } from '../../fixtures/write-status.ts'
import { gitHubHost } from '../../platform/ground.ts'
import { appName } from '../../platform/process-plans.ts'
import type { PlannedRequest } from '../load/planned-request.ts'

export type BenchTenant = {
  readonly namespace: string
  readonly installation: Installation
  readonly grant: RepositoryGrant
  readonly serviceAccount: { readonly name: string; readonly uid: string }
  /** Of its pod. */
  readonly bearer: string
}

export type TenantOptions = {
  readonly admin: AdminClient
  readonly github: RunningEmulator
  readonly installationId: number
  readonly delivery?: 'TokenEndpoint' | 'GitProxy'
}

const account = { host: gitHubHost, id: 2001, login: 'acme' } as const
const repositories = [{ id: 4001, name: 'acme/shop' }]
export const grantName = 'read-shop'
const permissions = { contents: 'read' } as const
const securityContext = {
  ...{ allowPrivilegeEscalation: false, runAsNonRoot: true },
  ...{ capabilities: { drop: ['ALL'] }, seccompProfile: { type: 'RuntimeDefault' } },
}

async function makeInstallation({ admin, github, installationId }: TenantOptions, namespace: string): Promise<Installation> {
  const spec = boundInstallation(account, { contents: 'read' }, { app: appName, installationId })
  const made = await createObject(admin, installation, { namespace, name: 'github' }, spec)
  await writeStatus(
    admin,
    installation,
    { namespace, name: 'github' },
    {
      ...{ appId: github.app.id, repositorySelection: 'all', permissions: { contents: 'read', metadata: 'read' } },
      ...{ observedGeneration: 1, conditions: [trueCondition('Verified', 'Verified'), trueCondition('Ready', 'Verified')] },
    },
  )
  return made
}

async function makeGrant({ admin, delivery = 'TokenEndpoint' }: TenantOptions, namespace: string): Promise<RepositoryGrant> {
  const made = await createObject(
    admin,
    repositoryGrant,
    { namespace, name: grantName },
    {
      ...{ installation: 'github', repositories: ['acme/shop'], permissions, delivery },
      ...{ subjects: [{ kind: 'ServiceAccount', name: 'runner' }], reason: 'a bench reads the shop' },
      requestedBy: userSubject(gitHubHost, 1002),
    },
  )
  const now = Date.now()
  await writeStatus(
    admin,
    repositoryGrant,
    { namespace, name: grantName },
    {
      ...{ decision: 'Approved', rule: 'bench', repositories, observedGeneration: 1 },
      ...{ checkedAt: new Date(now).toISOString(), expiresAt: new Date(now + 86_400_000).toISOString() },
      conditions: [trueCondition('Approved', 'Approved'), trueCondition('Ready', 'Approved')],
    },
  )
  return made
}

async function makePod({ admin }: TenantOptions, namespace: string): Promise<Pick<BenchTenant, 'bearer' | 'serviceAccount'>> {
  const core = `/api/v1/namespaces/${namespace}`
  const named = (name: string) => ({ apiVersion: 'v1', metadata: { name } })
  type Made = { readonly metadata: { readonly name: string; readonly uid: string } }
  const serviceAccount = (await admin.call('POST', `${core}/serviceaccounts`, {
    ...named('runner'),
    kind: 'ServiceAccount',
  })) as Made
  const containers = [{ name: 'main', image: 'none', securityContext }]
  const spec = { serviceAccountName: 'runner', containers }
  const pod = (await admin.call('POST', `${core}/pods`, { ...named('runner'), kind: 'Pod', spec })) as Made
  const { name, uid } = pod.metadata
  const boundObjectRef = { kind: 'Pod', apiVersion: 'v1', name, uid }
  const answer = (await admin.call('POST', `${core}/serviceaccounts/runner/token`, {
    ...{ apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest' },
    spec: { audiences: [tokenDeskAudience], expirationSeconds: 3600, boundObjectRef },
  })) as { readonly status: { readonly token: string } }
  return { bearer: answer.status.token, serviceAccount: { name: 'runner', uid: serviceAccount.metadata.uid } }
}

export async function makeTenant(options: TenantOptions, namespace: string): Promise<BenchTenant> {
  const { admin } = options
  await admin.call('POST', '/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } })
  const roles = [{ role: 'admin', subject: { type: 'Owners' } }]
  await createObject(admin, tenant, { name: namespace }, { account: { ...account, type: 'Organization' }, namespace, roles })
  const made = await makeInstallation(options, namespace)
  const grant = await makeGrant(options, namespace)
  return { namespace, installation: made, grant, ...(await makePod(options, namespace)) }
}

/** As a workload asks for the token of its grant. */
export function plannedRequest({ bearer }: BenchTenant): PlannedRequest {
  return {
    path: '/v1/token',
    headers: { authorization: `Bearer ${bearer}`, 'content-type': 'application/json' },
    body: Buffer.from(JSON.stringify({ grant: grantName })).toString('base64'),
    expectedStatus: 200,
    expectedText: '"token":"ghs_',
  }
}

/** What `plannedRequest` reaches. */
export const granted = { repositories, permissions } as const
