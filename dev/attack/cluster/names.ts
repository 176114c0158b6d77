// Metadata that belongs to others: labels and annotations of the platform, owners, finalizers, priorities, nodes, and the
// commit that an Application claims to run.
import { neighbourNamespace } from '../../demo/context.ts'
import type { Attack } from '../attack.ts'
import { application } from '../deputies/manifests.ts'
import { applicationsPath } from '../world/world.ts'
import { type ApiAttempt, apiAttempts, corePath, groupPath, jsonPatch, mergePatch } from './api-attempts.ts'
import { podSpec } from './mounts.ts'

const apps = 'apps.sekisho.dev/v1alpha1'
const github = 'github.sekisho.dev/v1alpha1'

const forgedLabels = {
  'sekisho.dev/tenant': 'acme',
  'sekisho.dev/application': 'shop',
  'sekisho.dev/process': 'web',
  'sekisho.dev/purpose': 'platform',
  'sekisho.dev/anything': 'x',
}

/** Plain objects that gary may create, with this metadata. */
function marked(metadata: object, image: string): readonly (readonly [string, string, object])[] {
  const named = { name: 'attack-mark', ...metadata }
  const make = (apiVersion: string, kind: string, more: object): object => ({ apiVersion, kind, metadata: named, ...more })
  const own = neighbourNamespace
  const template = { metadata: { labels: { app: 'x' } }, spec: podSpec(image, { restartPolicy: 'Always' }) }
  return [
    ['ConfigMap', corePath(own, 'configmaps'), make('v1', 'ConfigMap', { data: {} })],
    ['Secret', corePath(own, 'secrets'), make('v1', 'Secret', { stringData: { x: 'y' } })],
    ['Service', corePath(own, 'services'), make('v1', 'Service', { spec: { ports: [{ port: 80 }] } })],
    ['ServiceAccount', corePath(own, 'serviceaccounts'), make('v1', 'ServiceAccount', {})],
    ['Pod', corePath(own, 'pods'), make('v1', 'Pod', { spec: podSpec(image) })],
    [
      'Deployment',
      groupPath('apps/v1', own, 'deployments'),
      make('apps/v1', 'Deployment', { spec: { replicas: 0, selector: { matchLabels: { app: 'x' } }, template } }),
    ],
    ['Application', applicationsPath, { ...application('attack-mark', image), metadata: named }],
  ]
}

function markAttempts(image: string, metadata: object, what: string): readonly ApiAttempt[] {
  return marked(metadata, image).map(
    ([kind, path, json]): ApiAttempt => ({ as: 'gary', method: 'POST', path, json, name: `${kind} with ${what}`, dry: true }),
  )
}

const dryPod = (what: string, spec: object): ApiAttempt => ({
  as: 'gary',
  method: 'POST',
  path: corePath(neighbourNamespace, 'pods'),
  json: { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'attack-place' }, spec },
  name: what,
  dry: true,
})

const siteAccount = 'sekisho-app-site'

/** Every template that gary may write, with pods under the ServiceAccount of an Application; and the account itself. */
function accountAttempts(image: string): readonly ApiAttempt[] {
  const metadata = { name: 'attack-account' }
  const template = (restartPolicy: string): object => ({
    metadata: { labels: { app: 'x' } },
    spec: podSpec(image, { restartPolicy, serviceAccountName: siteAccount }),
  })
  const running = { replicas: 0, selector: { matchLabels: { app: 'x' } }, template: template('Always') }
  const job = { spec: { template: template('Never') } }
  const make = (path: string, json: object, name: string): ApiAttempt => ({
    as: 'gary',
    method: 'POST',
    path,
    json,
    name,
    dry: true,
  })
  const own = neighbourNamespace
  return [
    ...['Deployment', 'StatefulSet'].map(kind =>
      make(
        groupPath('apps/v1', own, `${kind.toLowerCase()}s`),
        { apiVersion: 'apps/v1', kind, metadata, spec: { ...running, ...(kind === 'StatefulSet' ? { serviceName: 'x' } : {}) } },
        `${kind} under the account`,
      ),
    ),
    make(groupPath('batch/v1', own, 'jobs'), { apiVersion: 'batch/v1', kind: 'Job', metadata, ...job }, 'Job under the account'),
    make(
      groupPath('batch/v1', own, 'cronjobs'),
      { apiVersion: 'batch/v1', kind: 'CronJob', metadata, spec: { schedule: '0 0 1 1 *', jobTemplate: job } },
      'CronJob under the account',
    ),
    make(
      corePath(own, 'serviceaccounts'),
      { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'sekisho-app-attack' } },
      'an account of an Application that is not there',
    ),
    make(
      `${corePath(own, 'serviceaccounts')}/${siteAccount}/token`,
      { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: { audiences: ['sekisho'] } },
      'a token of the account',
    ),
  ]
}

export const nameAttacks: readonly Attack[] = [
  {
    name: 'names/application-accounts',
    as: 'gary, admin of globex',
    against: 'the ServiceAccount by which the pods of an Application get the tokens of its grants',
    tries: 'Templates of his own under it, the account before the platform makes it, and a token of it.',
    expected: ['admission', 'RBAC'],
    attempts: async world => apiAttempts(world, accountAttempts(await world.ownImage())),
  },
  {
    name: 'names/labels',
    as: 'gary, admin of globex',
    against: 'the labels and annotations by which the platform finds its own objects',
    tries: 'Objects that carry keys below sekisho.dev/, created so or changed so.',
    expected: ['admission'],
    peer: 'Capsule CVE-2024-39690',
    attempts: async world => {
      const image = await world.ownImage()
      const target = `${applicationsPath}/site`
      return apiAttempts(world, [
        ...Object.entries(forgedLabels).flatMap(([key, value]) =>
          markAttempts(image, { labels: { [key]: value } }, `label ${key}`),
        ),
        ...markAttempts(image, { annotations: { 'sekisho.dev/anything': 'x' } }, 'an annotation of the platform'),
        {
          as: 'gary',
          method: 'PATCH',
          path: target,
          json: { metadata: { labels: forgedLabels } },
          contentType: mergePatch,
          name: 'add labels to an Application',
          dry: true,
        },
      ])
    },
  },
  {
    name: 'names/owners-and-finalizers',
    as: 'gary, admin of globex',
    against: 'the garbage collector, and the end of objects and namespaces',
    tries:
      'Owner references to objects of others, finalizers that keep objects for ever, and the removal of the platform’s finalizers.',
    expected: ['admission', 'RBAC', 'schema'],
    peer: 'Capsule: namespaces taken over by owner references',
    attempts: async world => {
      const image = await world.ownImage()
      const owner = (kind: string, apiVersion: string, name: string): object => ({
        ownerReferences: [
          { apiVersion, kind, name, uid: world.targets.victim.remoteSync.uid, blockOwnerDeletion: true, controller: true },
        ],
      })
      const sync = `${groupPath(apps, neighbourNamespace, 'remotesyncs')}/site`
      return apiAttempts(world, [
        ...markAttempts(image, owner('Tenant', 'tenancy.sekisho.dev/v1alpha1', 'acme'), 'the Tenant acme as owner'),
        ...markAttempts(image, owner('Application', 'apps.sekisho.dev/v1alpha1', 'shop'), 'an Application as owner'),
        ...markAttempts(image, { finalizers: ['attack.example/hold'] }, 'a finalizer of no controller').filter(({ name }) =>
          name?.startsWith('Application'),
        ),
        {
          as: 'gary',
          method: 'PATCH',
          path: sync,
          json: { metadata: { finalizers: ['attack.example/hold'] } },
          contentType: mergePatch,
          name: 'a foreign finalizer on a RemoteSync',
          dry: true,
        },
        {
          as: 'gary',
          method: 'PATCH',
          path: sync,
          json: [{ op: 'remove', path: '/metadata/finalizers' }],
          contentType: jsonPatch,
          name: 'without the platform’s finalizer on a RemoteSync',
          dry: true,
        },
        {
          as: 'gary',
          method: 'POST',
          path: groupPath(github, neighbourNamespace, 'repositorygrants'),
          json: {
            apiVersion: github,
            kind: 'RepositoryGrant',
            metadata: { name: 'attack-finalizer', finalizers: ['attack.example/hold'] },
            spec: {
              installation: 'github',
              repositories: ['globex/site'],
              permissions: { contents: 'read' },
              subjects: [{ kind: 'ServiceAccount', name: 'default' }],
              reason: 'attack',
            },
          },
          name: 'a grant with a finalizer of no controller',
          dry: true,
        },
      ])
    },
  },
  {
    name: 'names/places',
    as: 'gary, admin of globex',
    against: 'the node and the pods of others on it',
    tries: 'Pods in system priority classes, which evict others, and pods that choose their node past the scheduler.',
    expected: ['admission', 'quota'],
    attempts: async world => {
      const image = await world.ownImage()
      const classes = ['system-node-critical', 'system-cluster-critical', 'kpack-control-plane', 'kpack-build-high-priority']
      const template = {
        metadata: { labels: { app: 'x' } },
        spec: podSpec(image, { restartPolicy: 'Always', priorityClassName: 'system-node-critical' }),
      }
      const deployment = {
        apiVersion: 'apps/v1',
        kind: 'Deployment',
        metadata: { name: 'attack-place' },
        spec: { replicas: 0, selector: { matchLabels: { app: 'x' } }, template },
      }
      return apiAttempts(world, [
        ...classes.map(name => dryPod(`Pod of priority class ${name}`, podSpec(image, { priorityClassName: name }))),
        {
          as: 'gary',
          method: 'POST',
          path: groupPath('apps/v1', neighbourNamespace, 'deployments'),
          json: deployment,
          name: 'Deployment of priority class system-node-critical',
          dry: true,
        },
        dryPod('Pod that names its node', podSpec(image, { nodeName: world.settings.nodeName })),
      ])
    },
  },
  {
    name: 'names/commit',
    as: 'gary, admin of globex',
    against: 'the promise that the commit in the status is the one that runs',
    tries: 'An Application claims another commit than its image was built from.',
    expected: ['admission'],
    attempts: async world => {
      const image = await world.ownImage()
      const { commit } = world.targets.victim
      return apiAttempts(world, [
        {
          as: 'gary',
          method: 'POST',
          path: applicationsPath,
          json: application('attack-commit-of-acme', image, { commit }),
          name: 'create with acme’s commit',
          dry: true,
        },
        {
          as: 'gary',
          method: 'PATCH',
          path: `${applicationsPath}/site`,
          json: { spec: { commit } },
          contentType: mergePatch,
          name: 'patch to acme’s commit',
          dry: true,
        },
        {
          as: 'gary',
          method: 'PATCH',
          path: `${applicationsPath}/site`,
          json: { spec: { image: world.targets.victim.image, commit } },
          contentType: mergePatch,
          name: 'patch to acme’s image and commit',
          dry: true,
        },
      ])
    },
  },
]
