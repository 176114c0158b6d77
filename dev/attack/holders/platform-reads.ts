// Holders of Kubernetes' built-in roles read what is the platform's, by every verb that shows it. RBAC allows them most of
// it: only the answer of the authorizer counts, which is asked before RBAC, also about what does not exist.
import { neighbourNamespace } from '../../demo/context.ts'
import type { Attack } from '../attack.ts'
import { type ApiAttempt, apiAttempts, applyPatch, corePath, groupPath, jsonPatch, mergePatch } from '../cluster/api-attempts.ts'
import { podSpec } from '../cluster/mounts.ts'
import { judgeApi, messageOfAnswer } from '../judge.ts'
import { stopped, type Verdict } from '../verdict.ts'
import { type HolderActor, holderAccounts } from '../world/actors.ts'
import type { HttpAnswer } from '../world/http.ts'
import { dataServicesNamespace, platformNamespace } from '../world/targets.ts'
import { bindHolder } from './built-in-roles.ts'

const builds = `${neighbourNamespace}-build`
const reserved = ['appsecret-attack', 'sekisho-registry-pull', 'ghtok-attack', 'binding-attack']

/** An answer of RBAC, which is not expected, would say that nobody asked the authorizer. */
function judge(answer: HttpAnswer): Verdict {
  const message = messageOfAnswer(answer.text)
  return answer.status === 403 && message.includes('docs/guide/authorizer.md')
    ? stopped('authorizer', `${answer.status} ${message}`)
    : judgeApi(answer)
}

function readsOf(as: HolderActor, namespace: string, name: string): readonly ApiAttempt[] {
  const all = corePath(namespace, 'secrets')
  const one = `${all}/${name}`
  const json = { apiVersion: 'v1', kind: 'Secret', metadata: { name } }
  const copied = [{ op: 'copy', from: '/data', path: '/metadata/labels' }]
  const get = (path: string): ApiAttempt => ({ as, method: 'GET', path, judge })
  return [
    get(one),
    get(`${all}?fieldSelector=metadata.name%3D${name}`),
    get(`${all}?fieldSelector=metadata.name%3D${name}&watch=true&timeoutSeconds=1`),
    get(`/api/v1/watch/namespaces/${namespace}/secrets/${name}`),
    { as, method: 'PATCH', path: one, json: {}, contentType: mergePatch, dry: true, judge },
    { as, method: 'PATCH', path: one, json: copied, contentType: jsonPatch, dry: true, judge, name: `copy the data of ${one}` },
    { as, method: 'PATCH', path: `${one}?fieldManager=x`, json, contentType: applyPatch, dry: true, judge },
    { as, method: 'PUT', path: one, json, dry: true, judge },
    { as, method: 'DELETE', path: `${one}?propagationPolicy=Foreground`, dry: true, judge },
  ]
}

function lists(as: HolderActor, namespace: string): readonly ApiAttempt[] {
  const all = corePath(namespace, 'secrets')
  const queries = [
    '',
    '?limit=1',
    '?watch=true&timeoutSeconds=1',
    '?labelSelector=%21none',
    '?fieldSelector=metadata.name%21%3Dx',
  ]
  return [
    ...queries.map((query): ApiAttempt => ({ as, method: 'GET', path: `${all}${query}`, judge })),
    { as, method: 'DELETE', path: `${all}?labelSelector=attack%3Dnothing`, dry: true, judge },
  ]
}

function ofPlatform(as: HolderActor): readonly ApiAttempt[] {
  const paths = ['secrets', 'secrets/github-app-key', 'configmaps', 'configmaps/sekisho-settings', 'pods', 'events', 'leases']
  const pod = `${corePath(platformNamespace, 'pods')}/attack-any`
  return [
    ...paths.map((path): ApiAttempt => ({ as, method: 'GET', path: corePath(platformNamespace, path), judge })),
    { as, method: 'GET', path: `${pod}/log`, judge },
    ...['exec?command=true&stdout=true', 'attach?stdout=true', 'portforward?ports=8080'].map(
      (path): ApiAttempt => ({ as, method: 'POST', path: `${pod}/${path}`, connects: true, judge }),
    ),
  ]
}

/** What would open the wall: pods with the Secrets there, a name in the files of the authorizer, its end. */
function openings(as: HolderActor): readonly ApiAttempt[] {
  const authorizer = `${groupPath('apps/v1', platformNamespace, 'deployments')}/sekisho-authorizer`
  const spec = podSpec('x', {}, { envFrom: [{ secretRef: { name: 'github-app-key' } }] })
  const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'attack' }, spec }
  const patch = (path: string, json: object): ApiAttempt => ({
    as,
    method: 'PATCH',
    path,
    json,
    contentType: mergePatch,
    dry: true,
    judge,
  })
  return [
    { as, method: 'POST', path: corePath(platformNamespace, 'pods'), json: pod, dry: true, judge },
    patch(`${corePath(platformNamespace, 'configmaps')}/sekisho-authorizer-access`, { data: { readers: 'User x' } }),
    patch(`${authorizer}/scale`, { spec: { replicas: 0 } }),
    { as, method: 'DELETE', path: authorizer, dry: true, judge },
    { as, method: 'DELETE', path: `${corePath(platformNamespace, 'services')}/sekisho-authorizer`, dry: true, judge },
  ]
}

export const platformReadAttacks: readonly Attack[] = [
  {
    name: 'rights/platform-reads',
    as: 'holders of the built-in view, edit and admin, whom a cluster administrator bound in globex, globex-build and the namespace of the platform',
    against: 'Secrets of the platform in the namespaces of a tenant, its own namespace, and that with the accounts of servers',
    tries:
      'Every request that shows a Secret (reads, watches, dry runs of writes, lists with selectors), reads, logs and connections in the namespace of the platform, and what would open the wall: pods with its Secrets, a name in the files of the authorizer, its end.',
    expected: ['authorizer'],
    async attempts(world) {
      const holders = Object.keys(holderAccounts) as HolderActor[]
      for (const holder of holders) await bindHolder(world, holder, platformNamespace)
      const namespaces = [neighbourNamespace, builds]
      const attempts = (as: HolderActor) => [
        ...namespaces.flatMap(namespace => reserved.flatMap(name => readsOf(as, namespace, name))),
        ...readsOf(as, dataServicesNamespace, 'postgresql-administrator'),
        ...[...namespaces, platformNamespace, dataServicesNamespace].flatMap(namespace => lists(as, namespace)),
        ...ofPlatform(as),
        ...openings(as),
      ]
      return apiAttempts(world, holders.flatMap(attempts))
    },
  },
]
