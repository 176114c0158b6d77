// `spec.commit` of an Application says from which commit its image was built. Only the platform knows: it sets both fields
// after a build.
import { application } from '../../../api/apps/application.ts'
import { objectAt, textAt } from '../../../lib/json/json-value.ts'
import type { AdmissionRequest } from '../../review.ts'
import { celList, type Rule } from '../../rule.ts'

const message =
  'spec.commit is set by the platform together with the image that it built: leave it out, and set it to null when you set the spec.image of an Application without a RemoteSync (with one: run an earlier release with `sekisho rollback`, or suspend the RemoteSync first)'

function isKept({ object, oldObject }: AdmissionRequest): boolean {
  const after = objectAt(object, 'spec')
  const before = objectAt(oldObject, 'spec')
  return textAt(after, 'commit') === textAt(before, 'commit') && textAt(after, 'image') === textAt(before, 'image')
}

/** Others leave image and commit as they are, or leave the commit out. */
export const applicationCommit: Rule = {
  name: 'application-commit',
  stops: 'an image whose status names a commit from which it was not built',
  scope: 'everywhere',
  matches: [{ group: application.group, resources: [application.plural], operations: ['CREATE', 'UPDATE'] }],
  check(request, { controllers }) {
    if (controllers.includes(request.username) || objectAt(request.object, 'spec')?.['commit'] === undefined) return undefined
    return request.operation === 'UPDATE' && isKept(request) ? undefined : message
  },
  policy: ({ controllers }) => ({
    variables: [],
    validation: {
      expression: [
        `request.userInfo.username in ${celList(controllers)} || !has(object.spec.commit)`,
        " || (request.operation == 'UPDATE' && object.?spec.?commit == oldObject.?spec.?commit && object.?spec.?image == oldObject.?spec.?image)",
      ].join(''),
      message,
    },
  }),
}
