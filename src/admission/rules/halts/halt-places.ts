// Where a Halt may be. Elsewhere it would hold for nothing, and whoever made it would believe in it. A platform admin's belongs
// into the namespace of the platform: in that of a tenant its admins could lift it. A policy only: the webhook knows neither the
// labels of the namespace nor who is a platform admin.
import { halt } from '../../../api/github/halt.ts'
import { labels, platformNamespace } from '../../../api/names.ts'
import { administers, celText, type PolicyRule } from '../../rule.ts'

const marks = 'dyn(namespaceObject).metadata.?labels.orValue({})'

export const haltPlaces: PolicyRule = {
  name: 'halt-places',
  stops: 'a Halt that holds for nothing, or that a tenant’s admins can lift although a platform admin made it',
  scope: 'everywhere',
  matches: [{ group: halt.group, resources: [halt.plural], operations: ['CREATE'] }],
  policy: () => ({
    variables: [
      { name: 'tenant', expression: `${marks}[?${celText(labels.tenant)}].orValue('')` },
      { name: 'isBuild', expression: `${marks}[?${celText(labels.namespacePurpose)}].orValue('') == 'build'` },
      { name: 'target', expression: 'object.spec.target' },
    ],
    validation: {
      expression: [
        `request.namespace == ${celText(platformNamespace)}`,
        ` || (variables.tenant != '' && !variables.isBuild`,
        ' && variables.target.?tenant.?name.orValue(variables.tenant) == variables.tenant',
        ' && variables.target.?grant.?namespace.orValue(request.namespace) == request.namespace',
        ` && !${administers})`,
      ].join(''),
      message: `platform admins halt in the namespace ${platformNamespace}, where only they can lift it; others in the namespace of their tenant (not the one of its builds), and only what is of that tenant`,
    },
  }),
}
