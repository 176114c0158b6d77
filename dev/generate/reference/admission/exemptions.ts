// docs/reference/exemptions.md: which identities that are not of the platform the admission rules let pass, which part of a
// tenant's object leads them there, and which rule judges that part. From the rules in src/admission/rules.
import { platformIdentities } from '../../../../src/admission/identities.ts'
import type { DeputyIdentities, Followed, PolicyRule, Rule } from '../../../../src/admission/rule.ts'
import { ownRules, policyRules, rules } from '../../../../src/admission/rules/index.ts'
import { code, page, table } from '../../markdown.ts'

const deputies: Readonly<Record<DeputyIdentities, string>> = {
  kubernetesPrefixes: 'Kubernetes’ own components, by what their user names begin with',
  reapers: 'the controllers that delete objects with their namespace or owner',
  endpointControllers: 'the controllers that write Endpoints and EndpointSlices',
  volumeBinders: 'the controller that binds PersistentVolumeClaims',
  certificateManagers: 'cert-manager where its installation puts it',
}
const order = Object.keys(deputies) as DeputyIdentities[]

const introduction = `A controller of Kubernetes makes objects of what a tenant wrote: pods of a pod template, PersistentVolumeClaims of the templates in a StatefulSet and
in an ephemeral volume. The object then comes from an identity of Kubernetes, and does not show who wrote the template. So a rule that lets such an
identity pass names the template, and a rule judges the template as the object that it becomes, when it is written.`

/** The page as Markdown. */
export function exemptionsPage(): string {
  const users = order.map(who => [code(who), deputies[who], platformIdentities[who].map(code).join(', ')])
  const all: readonly (Rule | PolicyRule)[] = [...rules, ...policyRules, ...ownRules]
  return page({
    title: 'Identities that admission rules exempt',
    subject:
      'This page lists which identities of Kubernetes and of operators each admission rule lets pass, and what judges the templates that lead them.',
    source: '`src/admission/rules`',
    sections: [
      introduction,
      '## Identities',
      table(['name', 'who', 'users'], users),
      '## Exemptions',
      table(['rule', 'lets pass', 'which', 'led by', 'judged by'], all.flatMap(rowsOf)),
      'Every other rule judges all identities alike, or names those of the platform only.',
    ],
  })
}

function rowsOf({ name, exempts = {} }: Rule | PolicyRule): readonly (readonly string[])[] {
  return order.flatMap(who => {
    const exemption = exempts[who]
    if (exemption === undefined) return []
    const { does, follows } = exemption
    const head = [code(name), code(who), does]
    return follows.length === 0
      ? [[...head, 'nothing that a tenant writes', '–']]
      : follows.map(followed => [...head, followed.template, judgeOf(followed)])
  })
}

function judgeOf({ judgedBy, harmless }: Followed): string {
  return judgedBy === undefined ? `no rule: ${harmless}` : judgedBy.map(code).join(', ')
}
