// Who may stand in for a binding, what is written and recorded in which order, and how one is taken away again.
import { describe, expect, test } from 'vitest'
import { type Installation, installation as installations } from '../../api/github/installation.ts'
import type { Tenant } from '../../api/tenancy/tenant.ts'
import { KubeError } from '../../kube/client/errors.ts'
import { type StandInDeps, standIn, withdrawStandIn } from './stand-in.ts'
import { bindingDigest, standInRefusal } from './stand-in-checks.ts'

const proof = { method: 'OrganizationOwner' as const, provedAt: '1970-01-01T00:00:00.000Z' }
const account = { host: 'github.test', id: 2001, login: 'acme', type: 'Organization' as const }
const tenant = { metadata: { name: 'acme' }, spec: { account, namespace: 'acme', roles: [] } } as unknown as Tenant
const standing = (id: number) => ({ id, login: id === 1002 ? 'noah' : `person-${id}`, proof })

function binding(change: Partial<Installation['spec']> = {}, metadata: Partial<Installation['metadata']> = {}): Installation {
  return {
    apiVersion: installations.apiVersion,
    kind: installations.kind,
    metadata: { name: 'github', namespace: 'acme', uid: 'u', resourceVersion: '7', ...metadata },
    spec: {
      ...{ app: 'sekisho', installationId: 77, account, boundBy: { id: 1001, login: 'olivia' }, proof },
      ceiling: { repositories: 'All', permissions: { contents: 'read' } },
      ...change,
    },
  }
}
const second = (change: Partial<Installation['spec']> = {}) =>
  binding({ app: 'second', installationId: 88, ...change }, { name: 'github-second', uid: 'v', resourceVersion: '9' })

const noah = { host: 'github.test', userId: 1002, login: 'noah', subject: 'github|github.test|1002', csrf: '' }

type World = {
  readonly present?: readonly Installation[]
  /** What GitHub says of the person. */
  readonly role?: 'admin' | 'member'
  readonly halted?: string
  readonly mayOnboard?: boolean
  /** The status of the API server's refusal: at the dry run, and at the write. */
  readonly refusals?: readonly (number | undefined)[]
}

/** Everything that happens, in its order. */
function world(change: World = {}) {
  const steps: unknown[] = []
  const records: { readonly action: string; readonly outcome: string; readonly details: Record<string, unknown> }[] = []
  const facts = { id: 77, appId: 1, account, repositorySelection: 'all', suspendedAt: undefined, permissions: {} }
  const membership = { state: 'active', role: change.role ?? 'admin', organizationId: 2001, userId: 1002 }
  const client = {
    installations: async () => [facts],
    organizationMembership: async () => membership,
    organizations: async () => [{ id: 2001, login: 'acme' }],
  }
  const refusals = [...(change.refusals ?? [])]
  const deps = {
    github: { app: () => ({ name: 'sekisho', appId: 1, endpoints: { host: 'github.test' } }) },
    people: { userClient: async () => client },
    haltOf: () => change.halted,
    mayOnboard: () => change.mayOnboard ?? true,
    clock: { now: () => new Date(0) },
    audit: {
      append: async (record: (typeof records)[number]) => {
        records.push(record)
        steps.push(`${record.action} ${record.outcome}`)
      },
    },
    kube: {
      list: async () => change.present ?? [binding()],
      mergePatch: async (_: unknown, { name }: { readonly name: string }, patch: object, { dryRun }: { dryRun: boolean }) => {
        steps.push(dryRun ? `asked ${name}` : { name, ...patch })
        const status = refusals.shift()
        if (status !== undefined) throw new KubeError('refused', { status, reason: 'Refused' })
        return {}
      },
    },
  } as unknown as StandInDeps
  return { deps, steps, records }
}

async function outcomeOf(done: Promise<void>) {
  const failure = await done.then(
    () => undefined,
    (error: { readonly code: string; readonly message: string }) => error,
  )
  return failure?.code
}

/** Noah presses on the page that showed `shown`. */
async function pressed(change: World & { readonly shown?: readonly Installation[]; readonly person?: object } = {}) {
  const { deps, steps, records } = world(change)
  const shown = bindingDigest(change.shown ?? change.present ?? [binding()])
  const person = { ...noah, ...change.person } as never
  const code = await outcomeOf(standIn(deps, { person, tenant, named: binding(), shown }))
  return { code, steps, records }
}

const written = (name: string, resourceVersion: string, ids: readonly number[]) => ({
  name,
  metadata: { resourceVersion },
  spec: { standIns: ids.map(standing) },
})

describe('an owner who stands in', () => {
  test('is in the log before the Installation is changed, for the version that was read, with the ceiling', async () => {
    const { code, steps, records } = await pressed({ present: [binding({ standIns: [standing(5)] })] })
    expect(code).toBeUndefined()
    expect(steps).toEqual(['asked github', 'installation.stand-in-added allowed', written('github', '7', [5, 1002])])
    expect(records[0]?.details).toMatchObject({
      ...{ uid: 'u', standIn: 'github|github.test|1002', boundBy: 'github|github.test|1001', repositories: 'All' },
      permissions: { contents: 'read' },
    })
  })

  test('does so for each Installation of the account, and not again where the person answers already', async () => {
    const both = [binding(), second()]
    expect((await pressed({ present: both })).steps).toHaveLength(6)
    const bound = [binding(), second({ boundBy: { id: 1002, login: 'noah' } })]
    expect((await pressed({ present: bound })).steps.at(-1)).toEqual(written('github', '7', [1002]))
    expect(await pressed({ present: [binding({ standIns: [standing(1002)] })] })).toMatchObject({ code: undefined, steps: [] })
    const elsewhere = binding({ account: { ...account, id: 2002 } }, { name: 'other' })
    expect((await pressed({ present: [binding(), elsewhere], shown: [binding()] })).steps).toHaveLength(3)
  })

  test('is refused what the page did not show, whoever stands in by now', async () => {
    const refused = { code: 'conflict', steps: [] }
    expect(await pressed({ shown: [binding({}, { uid: 'former' })] })).toMatchObject(refused)
    const ceiling = { repositories: 'All' as const, permissions: { contents: 'write' as const } }
    expect(await pressed({ present: [binding({ ceiling })], shown: [binding()] })).toMatchObject(refused)
    expect(await pressed({ present: [binding(), second()], shown: [binding()] })).toMatchObject(refused)
    expect(await pressed({ present: [binding({ standIns: [standing(5)] })], shown: [binding()] })).toMatchObject({
      code: undefined,
    })
  })

  test('is proved at GitHub now, recorded when not, and halted, other accounts and unapproved ones are refused', async () => {
    const denied = { code: 'forbidden', steps: ['binding.denied denied'] }
    expect(await pressed({ role: 'member' })).toMatchObject(denied)
    expect(await pressed({ halted: 'halted by Halt x' })).toMatchObject(denied)
    expect(await pressed({ person: { host: 'other.test' } })).toMatchObject(denied)
    expect(await pressed({ mayOnboard: false })).toMatchObject({ code: 'forbidden', steps: [] })
    expect(await pressed({ present: [binding({ app: 'another' })] })).toMatchObject({ code: 'conflict', steps: [] })
    expect(await pressed({ present: [] })).toMatchObject({ code: 'conflict', steps: [] })
  })

  test('has no record when the API server refuses at once, and a second one when it refuses then', async () => {
    expect(await pressed({ refusals: [403] })).toMatchObject({ code: 'unavailable', steps: ['asked github'] })
    const late = await pressed({ refusals: [undefined, 409] })
    expect(late.code).toBe('conflict')
    expect(late.records.map(({ outcome }) => outcome)).toEqual(['allowed', 'failed'])
    // Without an answer it may have been done.
    const silent = await pressed({ refusals: [undefined, 0] })
    expect(silent.records.map(({ outcome }) => outcome)).toEqual(['allowed'])
  })
})

test.each([
  ['UserAccount', { tenant: { ...tenant, spec: { ...tenant.spec, account: { ...account, type: 'User' as const } } } }],
  ['Ending', { bindings: [] }],
  ['Ending', { bindings: [binding({}, { deletionTimestamp: proof.provedAt })] }],
  ['Changed', { shown: 'x' }],
  ['Binder', { personId: 1001 }],
  [
    'OwnerLost',
    { bindings: [{ ...binding(), status: { conditions: [{ type: 'Ready', status: 'False', reason: 'BinderNoLongerOwner' }] } }] },
  ],
  ['TooMany', { bindings: [binding({ standIns: [1, 2, 3, 4, 5].map(standing) })] }],
])('nobody stands in: %s', (reason, change) => {
  const bindings = [binding()]
  const facts = { tenant, bindings, personId: 1002, shown: bindingDigest(bindings) }
  expect(standInRefusal(facts)).toBeUndefined()
  expect(standInRefusal({ ...facts, ...(change as object) })).toMatchObject({ reason })
})

describe('who stands in', () => {
  const present = [binding({ standIns: [standing(1002), standing(5)] }), second({ standIns: [standing(1002)] })]
  const withdrawn = async (standInId: number, change: World & { readonly person?: object } = {}) => {
    const { deps, steps, records } = world({ present, ...change })
    const person = { ...noah, ...change.person } as never
    return { code: await outcomeOf(withdrawStandIn(deps, { person, tenant, standInId })), steps, records }
  }
  const removed = 'installation.stand-in-removed allowed'

  test('withdraws without being an owner any more, everywhere, and the last one leaves no list', async () => {
    const { code, steps } = await withdrawn(1002, { role: 'member' })
    expect(code).toBeUndefined()
    expect(steps).toEqual([
      ...['asked github', removed, written('github', '7', [5])],
      ...[
        'asked github-second',
        removed,
        { name: 'github-second', metadata: { resourceVersion: '9' }, spec: { standIns: null } },
      ],
    ])
  })

  test('is taken away by a present owner, and by nobody else, which is recorded', async () => {
    expect((await withdrawn(5)).steps).toEqual(['asked github', removed, written('github', '7', [1002])])
    const denied = { code: 'forbidden', steps: ['installation.stand-in-removed denied'] }
    expect(await withdrawn(5, { role: 'member' })).toMatchObject(denied)
    // The same number on another host is another person.
    expect((await withdrawn(1002, { person: { host: 'other.test' }, role: 'member' })).code).toBe('forbidden')
  })

  test('stays while the account is halted; who does not stand in is no error', async () => {
    expect(await withdrawn(1002, { halted: 'halted by Halt x' })).toMatchObject({ code: 'conflict', steps: [] })
    expect(await withdrawn(77)).toMatchObject({ code: undefined, steps: [] })
  })
})
