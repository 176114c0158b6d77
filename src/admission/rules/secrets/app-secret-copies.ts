// Annotations of AppSecrets in which a tool keeps the whole file that was applied, values included. Admission cleans kubectl's;
// this refuses what is left, so that no value is stored in plain text when the webhook is not registered, and none by another
// tool. That `spec.values` itself is never stored the kind's schema ensures, which needs no policy.
import { appSecret } from '../../../api/apps/app-secret.ts'
import { objectAt } from '../../../lib/json/json-value.ts'
import { sameJson } from '../../../lib/json/same-json.ts'
import type { Rule } from '../../rule.ts'

const message =
  'an annotation holds values of this AppSecret in plain text, so nothing was stored: use kubectl apply --server-side or sekisho secrets set, or remove the annotation'

/** As JSON writes the field; the same in RE2. */
const copied = '"values"\\s*:\\s*[{]'
const isCopy = new RegExp(copied)

/** Only who changes annotations is judged by them. */
export const appSecretCopies: Rule = {
  name: 'app-secret-copies',
  stops: 'keeping a secret value readable for everybody who may read the AppSecret, in the copy of the file that a tool stores',
  scope: 'everywhere',
  matches: [{ group: appSecret.group, resources: [appSecret.plural], operations: ['CREATE', 'UPDATE'] }],
  check({ object, oldObject }) {
    const annotations = objectAt(object, 'metadata', 'annotations') ?? {}
    if (sameJson(annotations, objectAt(oldObject, 'metadata', 'annotations') ?? {})) return undefined
    return Object.values(annotations).some(text => isCopy.test(String(text))) ? message : undefined
  },
  policy: () => ({
    variables: [
      { name: 'annotations', expression: 'dyn(object).metadata.?annotations.orValue({})' },
      { name: 'before', expression: 'oldObject == null ? {} : dyn(oldObject).metadata.?annotations.orValue({})' },
    ],
    validation: {
      expression: `variables.annotations == variables.before || variables.annotations.all(key, !variables.annotations[key].matches(r'${copied}'))`,
      message,
    },
  }),
}
