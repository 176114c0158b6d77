// Services of tenants: Secrets with credentials read and planted, ServiceClasses written, what the platform observes and the
// owner of what previews have forged, and the instances and credentials of another tenant named.
import { neighbourNamespace, tenantNamespace } from '../../demo/context.ts'
import type { Attack } from '../attack.ts'
import { type ApiAttempt, apiAttempts, corePath, groupPath, mergePatch } from '../cluster/api-attempts.ts'
import type { Actor } from '../world/actors.ts'

const group = 'services.sekisho.dev/v1alpha1'
const classes = `/apis/${group}/serviceclasses`
const name = 'attack'
const instances = groupPath(group, tenantNamespace, 'serviceinstances')
const buckets = groupPath(group, tenantNamespace, 'buckets')
const bindings = groupPath(group, tenantNamespace, 'servicebindings')

const secretOf = (secret: string) => ({ apiVersion: 'v1', kind: 'Secret', metadata: { name: secret }, stringData: { uri: 'x' } })
const classOf = (host: string) => ({
  apiVersion: group,
  kind: 'ServiceClass',
  metadata: { name },
  spec: {
    type: 'postgresql',
    provider: { postgresql: { host, adminSecret: { name: 'server' } } },
    plans: [{ name: 'small', limits: { storage: '1Gi' } }],
    reach: { cidrs: ['10.0.0.0/8'] },
  },
})
const instance = { apiVersion: group, kind: 'ServiceInstance', metadata: { name }, spec: { class: name } }
const bucket = { apiVersion: group, kind: 'Bucket', metadata: { name }, spec: { class: name } }
const binding = {
  apiVersion: group,
  kind: 'ServiceBinding',
  metadata: { name },
  spec: { service: { kind: 'ServiceInstance', name } },
}

const pipelineOwner = {
  apiVersion: 'apps.sekisho.dev/v1alpha1',
  kind: 'AppPipeline',
  name: 'shop',
  uid: '00000000-0000-4000-8000-000000000000',
  controller: true,
}

/** The Secret with a credential, by every verb that needs none to be there. */
function secretOfBinding(as: Actor, namespace: string): readonly ApiAttempt[] {
  const all = corePath(namespace, 'secrets')
  const one = `${all}/binding-${name}`
  return [
    { as, method: 'GET', path: one },
    { as, method: 'POST', path: all, json: secretOf(`binding-${name}`) },
    { as, method: 'DELETE', path: one },
  ]
}

const forged = { status: { version: 9, binding: { name: 'binding-attack' } } }

export const bindingAttacks: readonly Attack[] = [
  {
    name: 'bindings/credential-secrets',
    as: 'gary, admin of globex, and dave, developer of acme',
    against: 'the Secrets with credentials of services',
    tries: 'Reads, plants and deletes Secrets with the reserved name, in their own namespace and in that of the other.',
    expected: ['admission', 'RBAC'],
    attempts: world =>
      apiAttempts(world, [
        ...secretOfBinding('gary', neighbourNamespace),
        ...secretOfBinding('gary', tenantNamespace),
        ...secretOfBinding('dave', tenantNamespace),
      ]),
  },
  {
    name: 'bindings/classes-written',
    as: 'gary, admin of globex, and a ServiceAccount of globex',
    against: 'the servers of the platform',
    tries: 'Offers a service of a server of its own, to which the platform would send its password, and opens addresses to pods.',
    expected: ['RBAC'],
    attempts: world =>
      apiAttempts(
        world,
        (['gary', 'workload'] as const).flatMap(as => [
          { as, method: 'POST' as const, path: classes, json: classOf('globex.example.com') },
          {
            as,
            method: 'PATCH' as const,
            path: `${classes}/postgresql`,
            json: { spec: { reach: { cidrs: ['10.0.0.0/8'] } } },
            contentType: mergePatch,
          },
          { as, method: 'DELETE' as const, path: `${classes}/postgresql` },
        ]),
      ),
  },
  {
    name: 'bindings/status-forged',
    as: 'dave, developer of acme',
    against: 'what the platform says of its credentials',
    tries: 'Writes into the status of a ServiceInstance, a Bucket and a ServiceBinding that there is a credential.',
    expected: ['RBAC'],
    attempts: world =>
      apiAttempts(
        world,
        [instances, buckets, bindings].map(path => ({
          as: 'dave' as const,
          method: 'PATCH' as const,
          path: `${path}/${name}/status`,
          json: forged,
          contentType: mergePatch,
        })),
      ),
  },
  {
    name: 'bindings/preview-owner-forged',
    as: 'gary, admin of globex, and dave, developer of acme',
    against: 'what previews have for themselves',
    tries:
      'Makes a ServiceInstance that an AppPipeline owns, or that has the labels of one, so that a preview of a fork takes it for its own.',
    expected: ['admission'],
    attempts: world =>
      apiAttempts(
        world,
        (
          [
            ['gary', neighbourNamespace],
            ['dave', tenantNamespace],
          ] as const
        ).flatMap(([as, namespace]) =>
          [{ ownerReferences: [pipelineOwner] }, { labels: { 'sekisho.dev/app-pipeline': 'shop' } }].map(metadata => ({
            as,
            method: 'POST' as const,
            path: groupPath(group, namespace, 'serviceinstances'),
            json: { ...instance, metadata: { ...instance.metadata, ...metadata } },
          })),
        ),
      ),
  },
  {
    name: 'bindings/of-another-tenant',
    as: 'gary, admin of globex, and a ServiceAccount of globex',
    against: 'the services of acme',
    tries: 'Lists, reads, makes and deletes ServiceInstances, Buckets and ServiceBindings in the namespace of acme.',
    expected: ['RBAC'],
    attempts: world =>
      apiAttempts(
        world,
        (['gary', 'workload'] as const).flatMap(as => [
          { as, method: 'GET' as const, path: instances },
          { as, method: 'GET' as const, path: buckets },
          { as, method: 'GET' as const, path: `${bindings}/${name}` },
          { as, method: 'POST' as const, path: instances, json: instance },
          { as, method: 'POST' as const, path: buckets, json: bucket },
          { as, method: 'POST' as const, path: bindings, json: binding },
          { as, method: 'DELETE' as const, path: `${instances}/${name}` },
          { as, method: 'DELETE' as const, path: `${buckets}/${name}` },
        ]),
      ),
  },
]
