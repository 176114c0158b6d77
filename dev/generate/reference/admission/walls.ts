// docs/reference/walls.md: each wall with what it protects, its layer, as whom it is tried and which tests prove it; and for each
// rule of admission the path that it closes, to whom, and in which of the two forms. From the lists of the product.
import type { PolicyRule, Rule, Scope } from '../../../../src/admission/rule.ts'
import { ownRules, policyRules, rules } from '../../../../src/admission/rules/index.ts'
import { type Wall, type WallName, type WallProbe, walls } from '../../../../src/services/wall-probe/walls.ts'
import { code, page, table } from '../../markdown.ts'

const probes: Readonly<Record<WallProbe, string>> = {
  compared: 'compared with what this version ships',
  'without rights': 'as `sekisho-wall-probe`, which has no right',
  controllers: 'by a dry run of the controllers',
}

const [matrix, probe, roles, cases] = [
  'test/attack/admission',
  'test/attack/wall-probe',
  'test/integration/tenant-roles',
  'src/services/wall-probe/namespaces',
]

/** The tests that prove it, without `.test.ts`, and the attacks of `make attack`. */
export const provedBy: Readonly<Record<WallName, { readonly tests: readonly string[]; readonly attacks: readonly string[] }>> = {
  'validating-policies': { tests: [matrix, probe], attacks: ['walls/silent'] },
  'mutating-policies': { tests: [matrix, probe], attacks: ['walls/silent'] },
  'webhook-registrations': { tests: [matrix, probe], attacks: ['walls/silent'] },
  'own-writes': { tests: [matrix, probe], attacks: [] },
  'secret-references': { tests: [matrix, probe], attacks: ['mounts/tokens', 'mounts/registry-credentials'] },
  'namespace-labels': { tests: [matrix, cases], attacks: ['rights/cluster'] },
  'pod-security': { tests: [matrix, cases], attacks: ['walls/silent', 'rights/built-in-roles'] },
  'network-default-deny': { tests: ['test/e2e/network', cases], attacks: ['walls/silent'] },
  installations: { tests: [roles, matrix, probe], attacks: ['kinds/of-the-platform'] },
  tenants: { tests: [roles, matrix, probe], attacks: ['kinds/of-the-platform', 'rights/roles', 'rights/built-in-roles'] },
  secrets: { tests: [roles, probe], attacks: ['reads/with-kubectl', 'secrets/app-secret-as-own-tenant'] },
  'pod-connections': {
    tests: ['test/attack/access', matrix, probe],
    attacks: ['reads/exec-beside-a-grant', 'rights/built-in-roles'],
  },
  'account-tokens': { tests: ['test/attack/access', matrix, probe], attacks: ['rights/identities', 'rights/built-in-roles'] },
}

const scopes: Readonly<Record<Scope, string>> = {
  everywhere: 'the whole cluster',
  'tenant-namespaces': 'both namespaces of tenants',
  'application-namespaces': 'namespaces of tenants',
  'build-namespaces': 'build namespaces',
  'platform-namespace': '`sekisho-system`',
}

const introduction = `The platform looks at its walls every two minutes (\`SEKISHO_WALL_PROBE_SECONDS\`). What it finds is in the condition \`WallsHold\` of every Tenant, in the ConfigMap
\`sekisho-wall-status\` of \`sekisho-system\`, in Events about that, and in the metric \`sekisho_wall_holds\`; [operations.md](../guide/operations.md#sekishowalloff) says what to do. How it tries without being able to do
harm: [ADR 0090](../adr/0090-walls-that-say-when-they-are-off.md). Connections between tenants are tried by the [probe of network policies](../adr/0020-probe-of-network-policies.md).`

const rulesIntroduction = `A rule in both forms stands as a ValidatingAdmissionPolicy and in the webhook; a policy alone holds while all processes of the platform are down, too. \`test/attack/admission.test.ts\` plays
every row of \`test/attack/rows\` against each form. Whom a rule exempts beside those named here: [exemptions.md](exemptions.md).`

/** The page as Markdown. */
export function wallsPage(): string {
  const both: readonly (Rule | PolicyRule)[] = rules
  const asPolicies: readonly (Rule | PolicyRule)[] = [...policyRules, ...ownRules]
  return page({
    title: 'Walls',
    subject:
      'This page lists what stands between tenants, and between tenants and the platform, and how it is known that it stands.',
    source: '`src/services/wall-probe/walls.ts` and `src/admission/rules`',
    sections: [
      introduction,
      '## What is looked at',
      table(['wall', 'protects', 'layer', 'looked at', 'what', 'proved by'], walls.map(wallRow)),
      '## Rules of admission',
      rulesIntroduction,
      table(
        ['rule', 'path', 'in', 'closed to', 'stops', 'form'],
        [...both.map(rule => ruleRow(rule, 'policy, webhook')), ...asPolicies.map(rule => ruleRow(rule, 'policy'))],
      ),
    ],
  })
}

function wallRow({ name, protects, layer, probes: by, how }: Wall & { readonly name: WallName }): readonly string[] {
  return [code(name), protects, layer, by.map(probe => probes[probe]).join('; '), how, provers(name)]
}

function provers(wall: WallName): string {
  const { tests, attacks } = provedBy[wall]
  const played = attacks.map(name => `[attack](attacks.md) ${code(name)}`)
  return [...tests.map(path => code(`${path}.test.ts`)), ...played].join(', ')
}

function ruleRow(rule: Rule | PolicyRule, form: string): readonly string[] {
  const { name, stops, scope, matches, administratorsMay } = rule
  const path = matches.flatMap(({ group, resources, operations }) =>
    resources.map(resource => `${operations.join('/')} ${code(group === '' ? resource : `${group}/${resource}`)}`),
  )
  const closed =
    'users' in rule && rule.users !== undefined
      ? 'the ServiceAccounts of the platform'
      : administratorsMay
        ? 'everybody but platform admins and whom the rule names'
        : 'everybody but whom the rule names'
  return [code(name), path.join(', '), scopes[scope], closed, stops, form]
}
