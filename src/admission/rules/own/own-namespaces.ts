// Which namespaces our own identities make, and what they may change on them: those of a Tenant, with the labels by which every
// other rule finds them and with Pod Security at its strictest. Where Dockerfiles are built the rule build-pods takes its place
// in build namespaces. The policy own-writes says that they change no others.
import { labels } from '../../../api/names.ts'
import { celList, celText, type PolicyRule } from '../../rule.ts'

const tenant = celText(labels.tenant)
const purpose = celText(labels.namespacePurpose)
const level = 'pod-security.kubernetes.io/enforce'

/** Namespaces of Kubernetes and of the platform: a Tenant of such a name gets none. */
const reserved = ['kube-', 'openshift-', 'sekisho-']

export const ownNamespaces: PolicyRule = {
  name: 'own-namespaces',
  stops:
    'a process of ours that was taken over: a privileged namespace, one without the tenant rules, or one that an operator will use',
  scope: 'everywhere',
  users: ({ accounts }) => accounts.map(({ username }) => username),
  matches: [{ group: '', resources: ['namespaces', 'namespaces/*'], operations: ['CREATE', 'UPDATE'] }],
  policy: () => ({
    variables: [
      { name: 'after', expression: 'dyn(object).metadata.?labels.orValue({})' },
      { name: 'before', expression: '(oldObject == null ? {} : dyn(oldObject).metadata.?labels.orValue({}))' },
    ],
    validation: {
      expression: [
        `variables.after[?${tenant}].orValue('') != '' && variables.after[?${purpose}].orValue('') in ${celList(['application', 'build'])}`,
        ` && (variables.after[?${celText(level)}].orValue('') == 'restricted' || (variables.after[?${purpose}].orValue('') == 'build' && variables.after[?${celText(level)}].orValue('') == 'privileged'))`,
        " && dyn(object).metadata.?ownerReferences.orValue([]).exists(o, o.kind == 'Tenant' && o.?controller.orValue(false))",
        ` && object.metadata.name != 'default' && !${celList(reserved)}.exists(beginning, object.metadata.name.startsWith(beginning))`,
        ` && (oldObject == null || [${tenant}, ${purpose}].all(key, variables.before[?key] == variables.after[?key]))`,
      ].join(''),
      message: `the platform makes namespaces of Tenants only: controlled by a Tenant, labelled ${labels.tenant} and ${labels.namespacePurpose}, with Pod Security restricted (in build namespaces the policy build-pods may take its place), and never renamed or relabelled`,
    },
  }),
}
