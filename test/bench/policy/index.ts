// Bench `policy`: a decision with 1,000 rules of a tenant while 1,000 tenants are loaded, beside casbin over the same rules; the
// largest grant; and random queries of which casbin over all rules must say the same.
import fc from 'fast-check'
import { decidePolicies, type PolicySet } from '../../../src/policy/grants/decide-policies.ts'
import type { PolicyFacts } from '../../../src/policy/grants/policy-facts.ts'
import { policyLayer } from '../../../src/policy/grants/policy-layer.ts'
import type { Policy } from '../../../src/policy/grants/policy-row.ts'
import { anyFacts, anyPolicies, atomsOfFacts, completed } from '../../../src/policy/grants/testing/any-policies.ts'
import { plainCasbin } from '../../../src/policy/grants/testing/plain-casbin.ts'
import type { Bench, BenchContext, Comparison, Figure, Measurement, OpenBench, Run } from '../harness/bench.ts'
import { figureAtMost, ratioAtLeast } from '../harness/goals.ts'
import { percentile } from '../harness/statistics.ts'
import { figureNames } from '../harness/summarize.ts'

const [rules, tenants, queries, timed, compared] = [1000, 1000, 1_000_000, 100_000, 2000]
const levels = ['read', 'write', 'admin'] as const
const permissions = [
  'contents',
  'checks',
  'statuses',
  'issues',
  'deployments',
  'packages',
  'pull_requests',
  'actions',
  'pages',
  'metadata',
]
const microseconds = 1000

/** Rules of a large tenant: most name a repository, some a family of them, each fifth denies. */
function rulesOf(tenant: number, count: number): readonly Policy[] {
  const all = Array.from({ length: count }, (_, at) => ({
    name: `rule-${at}`,
    effect: at % 5 === 4 ? 'Deny' : 'Allow',
    repositories: [at % 10 === 0 ? `acme-${tenant}/team-${at}-*` : `acme-${tenant}/service-${at}`],
    permissions: { [permissions[at % permissions.length] ?? 'contents']: levels[at % 3] },
    ...(at % 4 === 0 && { requesters: [{ type: 'Person', id: 1 + (at % 50) }] }),
  }))
  const size = 100
  return Array.from(
    { length: Math.ceil(count / size) },
    (_, at) =>
      ({
        metadata: { name: `policy-${at}` },
        spec: { mode: 'Enforce', builtInRules: 'Keep', rules: all.slice(at * size, (at + 1) * size) },
      }) as unknown as Policy,
  )
}

/** One repository, one permission, one subject. */
function query(tenant: number, at: number): PolicyFacts {
  return {
    host: 'github.com',
    requester: { personId: 1 + (at % 50), memberships: new Map() },
    repositories: [{ id: at + 1, name: `acme-${tenant}/service-${at % rules}`, visibility: 'private' }],
    permissions: { [permissions[at % permissions.length] ?? 'contents']: 'read' },
    subjects: [{ kind: 'ServiceAccount', name: 'runner' }],
    delivery: 'TokenEndpoint',
    refs: ['refs/*'],
  }
}

function loaded(count: number): readonly PolicySet[] {
  const cluster = policyLayer('ClusterGrantPolicy', rulesOf(0, 20))
  return Array.from({ length: count }, (_, tenant) => ({
    cluster,
    namespace: policyLayer('GrantPolicy', rulesOf(tenant, rules)),
  }))
}

const medianLabel = 'decision, p50'
const largestLabel = 'a grant of 50 repositories, 30 permissions and 2 subjects'
const disagreementsLabel = 'disagreements'

function decisions(sets: readonly PolicySet[], count: number): Measurement {
  return {
    name: 'decision',
    title: `${count.toLocaleString('en-US')} decisions about one combination, of ${sets.length.toLocaleString('en-US')} tenants with ${rules.toLocaleString('en-US')} rules each`,
    async run(): Promise<readonly Figure[]> {
      const all: number[] = []
      for (let at = 0; at < count; at++) {
        const tenant = (at * 7) % sets.length
        const [set, facts] = [sets[tenant], query(tenant, at)]
        if (set === undefined) continue
        const started = performance.now()
        decidePolicies(set, facts)
        all.push((performance.now() - started) * microseconds)
      }
      const [set] = sets
      const largest: PolicyFacts = {
        ...query(0, 0),
        repositories: Array.from({ length: 50 }, (_, at) => ({
          id: at + 1,
          name: `acme-0/service-${at}`,
          visibility: 'private',
        })),
        permissions: Object.fromEntries(
          Array.from({ length: 30 }, (_, at) => [permissions[at] ?? `extra_${at}`, 'read' as const]),
        ),
        subjects: [
          { kind: 'ServiceAccount', name: 'runner' },
          { kind: 'RemoteSync', name: 'shop' },
        ],
      }
      const started = performance.now()
      // What is denied ends at once: the whole grant has to be looked at.
      if (set) for (const facts of eachOf(largest)) decidePolicies(set, facts)
      return [
        { label: medianLabel, value: percentile(all, 50), unit: 'µs' },
        { label: 'decision, p99', value: percentile(all, 99), unit: 'µs' },
        { label: largestLabel, value: performance.now() - started, unit: 'ms' },
      ]
    },
    goals: [figureAtMost(medianLabel, 50), figureAtMost(largestLabel, 20)],
  }
}

function eachOf(facts: PolicyFacts): readonly PolicyFacts[] {
  return atomsOfFacts(facts).map(({ subject, repository, permission, level }) => ({
    ...facts,
    subjects: [subject],
    repositories: [repository],
    permissions: { [permission]: level },
  }))
}

/** Each set of policies is asked many queries, because casbin takes long to make. */
function agreement(count: number): Measurement {
  return {
    name: 'agreement',
    title: `${count.toLocaleString('en-US')} random queries of random policies, each also put to casbin over all rules`,
    async run(signal): Promise<readonly Figure[]> {
      const perSet = 200
      let [asked, differing] = [0, 0]
      for (let seed = 1; asked < count; seed++) {
        signal.throwIfAborted()
        const [cluster = [], namespace = []] = fc.sample(anyPolicies, { seed, numRuns: 2 })
        const set = { cluster: policyLayer('ClusterGrantPolicy', cluster), namespace: policyLayer('GrantPolicy', namespace) }
        const plain = [plainCasbin('ClusterGrantPolicy', cluster), plainCasbin('GrantPolicy', namespace)]
        for (const facts of fc.sample(anyFacts, { seed, numRuns: Math.min(perSet, count - asked) })) {
          const known = completed(facts, [seed, asked, 1, 2, 0])
          const isAllowed = atomsOfFacts(known).every(atom => plain.every(layer => layer(known, atom) === 'allow'))
          if ((decidePolicies(set, known).effect === 'Allow') !== isAllowed) differing++
          asked++
        }
      }
      return [
        { label: 'queries', value: asked, unit: '' },
        { label: disagreementsLabel, value: differing, unit: '' },
      ]
    },
    goals: [figureAtMost(disagreementsLabel, 0)],
  }
}

function besideCasbin(sets: readonly PolicySet[], count: number): Comparison {
  const [set] = sets
  const plain = plainCasbin('GrantPolicy', rulesOf(0, rules))
  const run = (decide: (facts: PolicyFacts) => unknown): Run => {
    const started = performance.now()
    for (let at = 0; at < count; at++) decide(query(0, at))
    return { operations: count, wallSeconds: (performance.now() - started) / microseconds }
  }
  return {
    name: 'index',
    title: `${count.toLocaleString('en-US')} decisions by ${rules.toLocaleString('en-US')} rules`,
    unit: 'decisions',
    peerName: 'casbin over all rules',
    ours: async () => run(facts => set && decidePolicies(set, facts)),
    peer: async () => run(facts => atomsOfFacts(facts).map(atom => plain(facts, atom))),
    goals: [ratioAtLeast(figureNames.rate, 10)],
  }
}

export const policy: Bench = {
  name: 'policy',
  title: `decisions by ${rules.toLocaleString('en-US')} rules of a tenant with ${tenants.toLocaleString('en-US')} tenants loaded`,
  budgetSeconds: 3600,
  async open({ note, scale }: BenchContext): Promise<OpenBench> {
    const sized = (count: number): number => Math.max(1, Math.round(count * scale))
    note('compiling the policies of all tenants')
    const sets = loaded(sized(tenants))
    return {
      comparisons: [besideCasbin(sets, sized(compared))],
      measurements: [decisions(sets, sized(timed)), agreement(sized(queries))],
      close: async () => {},
    }
  },
}
