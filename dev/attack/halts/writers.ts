// Who writes Halts: those of other tenants and of the platform are not gary's, and his own end by being lifted in his name.
import { neighbourNamespace, tenantNamespace } from '../../demo/context.ts'
import type { Attack, Attempt } from '../attack.ts'
import { type ApiAttempt, apiAttempts, applyPatch, jsonPatch, mergePatch } from '../cluster/api-attempts.ts'
import type { Actor } from '../world/actors.ts'
import { platformNamespace } from '../world/targets.ts'
import type { World } from '../world/world.ts'
import { group, haltOf, haltsIn, host, nothing, ofPlatform, own, stand } from './halted.ts'

const ofOthers = haltsIn(tenantNamespace)
/** A Halt of the platform that is about a grant of globex, which nobody has. */
const platformHalt = 'attack-platform'
const held = 'attack-held'

const olivia = `github|${host}|1001`
const admin = 'system:admin'
const everything = { type: 'Everything' }
const liftedBy = (by: string) => ({ spec: { lifted: { by, reason: 'an attack' } } })

const change = (as: Actor, path: string, json: unknown, name: string): ApiAttempt => ({
  as,
  method: 'PATCH',
  path,
  json,
  contentType: mergePatch,
  name,
  dry: true,
})

/** Beyond the namespace in which he administers. */
function elsewhere(as: Actor): readonly ApiAttempt[] {
  const one = `${ofPlatform}/${platformHalt}`
  return [
    ...[ofOthers, ofPlatform, haltsIn('default')].flatMap(path => [
      { as, method: 'GET', path },
      { as, method: 'POST', path, json: haltOf('attack-a', everything), name: `everything is halted: POST ${path}` },
    ]),
    { as, method: 'GET', path: `/apis/${group}/halts` },
    { as, method: 'POST', path: ofPlatform, json: haltOf('attack-b', { type: 'Person', person: { host, id: 1001 } }) },
    { as, method: 'POST', path: ofOthers, json: haltOf('attack-c', { type: 'Tenant', tenant: { name: 'acme' } }) },
    change(as, one, liftedBy(olivia), 'lift one of the platform'),
    change(as, one, liftedBy(admin), 'lift one of the platform in the name of the administrator'),
    change(as, one, { metadata: { finalizers: null } }, 'take the finalizer of one of the platform'),
    change(as, `${one}/status`, { status: { tokens: { revoked: 9, expired: 0, left: 0 } } }, 'write the status of one'),
    { as, method: 'DELETE', path: one },
    { as, method: 'DELETE', path: ofPlatform },
    {
      as,
      method: 'PATCH',
      path: `${one}?fieldManager=x&force=true`,
      json: { ...haltOf(platformHalt, nothing), ...liftedBy(olivia) },
      contentType: applyPatch,
      name: 'apply a lifting over one of the platform',
    },
  ]
}

/** From his own namespace, about what is not his: where it is named, it is refused. */
function beyond(as: Actor): readonly ApiAttempt[] {
  const build = haltsIn(`${neighbourNamespace}-build`)
  return [
    { as, method: 'POST', path: own, json: haltOf('attack-d', { type: 'Tenant', tenant: { name: 'acme' } }), dry: true },
    {
      as,
      method: 'POST',
      path: own,
      json: haltOf('attack-e', { type: 'Grant', grant: { namespace: tenantNamespace, name: 'demo-reader' } }),
      dry: true,
    },
    { as, method: 'POST', path: build, json: haltOf('attack-f', everything) },
    {
      as,
      method: 'POST',
      path: own,
      json: haltOf('attack-g', everything, { requestedBy: olivia }),
      dry: true,
      name: 'a Halt in the name of olivia',
    },
    {
      as,
      method: 'POST',
      path: own,
      json: haltOf('attack-h', everything, { requestedBy: 'system:serviceaccount:sekisho-system:sekisho-controllers' }),
      dry: true,
      name: 'a Halt in the name of the controllers',
    },
    {
      as,
      method: 'POST',
      path: own,
      json: haltOf('attack-i', everything, liftedBy(olivia).spec),
      dry: true,
      name: 'a Halt that is lifted from the start',
    },
  ]
}

async function elsewhereAttempts(world: World): Promise<readonly Attempt[]> {
  await stand(world, ofPlatform, haltOf(platformHalt, nothing))
  return apiAttempts(
    world,
    (['gary', 'workload', 'dave', 'mia', 'stranger'] as const).flatMap(as => [
      // In their own namespace dave and mia are somebody else's people for this list: it is left to that of own Halts.
      ...elsewhere(as).filter(({ path, method }) => !((as === 'dave' || as === 'mia') && path === ofOthers && method === 'GET')),
    ]),
  )
}

/** What a Halt of his own says never changes, and it does not end without his name. */
async function ownAttempts(world: World): Promise<readonly Attempt[]> {
  await stand(world, own, haltOf(held, nothing))
  const one = `${own}/${held}`
  const as = 'gary' as const
  const replace = (path: string, value: unknown) => ({
    as,
    method: 'PATCH',
    path: one,
    json: [{ op: 'add', path, value }],
    contentType: jsonPatch,
    dry: true as const,
    name: `JSON patch of ${path}`,
  })
  const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'attack-owner', uid: '00000000-0000-4000-8000-000000000000' }
  const ours = { apiVersion: 'apps.sekisho.dev/v1alpha1', kind: 'Application', name: 'site', uid: owner.uid }
  return apiAttempts(world, [
    change(as, one, { spec: { target: { grant: { name: 'another' } } } }, 'another target'),
    change(as, one, { spec: { target: { type: 'Everything', grant: null } } }, 'another type of target'),
    change(as, one, { spec: { reason: 'nothing happened' } }, 'another reason'),
    change(as, one, { spec: { requestedBy: olivia } }, 'another requester'),
    change(as, one, { spec: { dryRun: true } }, 'a dry run afterwards'),
    change(as, one, { spec: { workloads: 'ScaleToZero' } }, 'other workloads'),
    change(as, one, liftedBy(olivia), 'lifted in the name of olivia'),
    change(as, one, liftedBy(admin), 'lifted in the name of the administrator'),
    change(as, one, liftedBy(''), 'lifted in nobody’s name'),
    change(as, one, { spec: { lifted: { by: olivia } } }, 'lifted without a reason'),
    change(as, one, { metadata: { finalizers: null } }, 'without its finalizer'),
    change(as, one, { metadata: { finalizers: ['example.com/forever'] } }, 'with a finalizer of another controller'),
    change(as, one, { metadata: { ownerReferences: [owner] } }, 'with an owner that is deleted'),
    change(as, one, { metadata: { ownerReferences: [ours] } }, 'with an owner of the platform’s kinds'),
    change(as, `${one}/status`, { status: { subject: null } }, 'its status'),
    replace('/spec/target/grant/namespace', tenantNamespace),
    replace('/metadata/ownerReferences', [owner]),
    {
      as,
      method: 'POST',
      path: own,
      json: { ...haltOf('attack-owned', nothing), metadata: { name: 'attack-owned', ownerReferences: [owner] } },
      dry: true,
      name: 'a Halt with an owner that is deleted',
    },
    { as, method: 'DELETE', path: one, dry: true },
    { as, method: 'DELETE', path: own, dry: true, name: 'all Halts of the namespace' },
    { as, method: 'DELETE', path: `/api/v1/namespaces/${neighbourNamespace}`, name: 'the namespace' },
    change('workload', one, liftedBy(`system:serviceaccount:${neighbourNamespace}:default`), 'lifted by a workload'),
    { as: 'workload', method: 'DELETE', path: one, dry: true },
    change('noah', one, liftedBy(`github|${host}|1005`), 'lifted by somebody without a role'),
  ])
}

export const haltWriterAttacks: readonly Attack[] = [
  {
    name: 'halts/of-others',
    as: 'gary, admin of globex, a ServiceAccount of globex, people of acme, and a client without a credential',
    against: `Halts of acme and of the platform (${platformNamespace})`,
    tries: 'Halts other tenants, people and everybody; reads, lifts, changes and deletes what others have halted.',
    expected: ['RBAC', 'authentication'],
    attempts: elsewhereAttempts,
  },
  {
    name: 'halts/beyond-globex',
    as: 'gary, admin of globex',
    against: 'acme and its people, by a Halt in globex',
    tries: 'Names another tenant and its grants, halts where nothing is, in the name of others, and lifted from the start.',
    expected: ['admission', 'RBAC'],
    attempts: world => apiAttempts(world, beyond('gary')),
  },
  {
    name: 'halts/own-changed',
    as: 'gary, admin of globex, a ServiceAccount of globex, and noah',
    against: 'the record of who ended a Halt and why it stood',
    tries:
      'Changes target, reason and requester afterwards, lifts in the name of others, deletes, and has it deleted by an owner.',
    expected: ['admission', 'schema', 'RBAC', 'broker'],
    attempts: ownAttempts,
  },
]
