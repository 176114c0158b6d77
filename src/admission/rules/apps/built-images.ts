// The image of an Application that a RemoteSync builds. The RemoteSync sets its own image again at its next run, so that
// another one would run for seconds and be gone without a word. A policy only: it reads the RemoteSyncs of the namespace
// itself, which the webhook cannot.
// Source: https://kubernetes.io/docs/reference/access-authn-authz/validating-admission-policy/#parameter-resources
import { application } from '../../../api/apps/application.ts'
import { remoteSync } from '../../../api/apps/remote-sync.ts'
import { celList, celText, type PolicyRule } from '../../rule.ts'

const isKept = 'object.?spec.?image == oldObject.?spec.?image && object.?spec.?commit == oldObject.?spec.?commit'

const isNamed =
  'params.spec.application == object.metadata.name || object.metadata.name in params.spec.?otherApplications.orValue([])'

/** One that is suspended or being deleted sets no image. */
const setsItsImage = `(${isNamed}) && !params.spec.?suspend.orValue(false) && !has(params.metadata.deletionTimestamp)`

const messageExpression = [
  celText('RemoteSync '),
  'params.metadata.name',
  celText(' builds the image of Application '),
  'object.metadata.name',
  celText(' and would set its own again. Push a commit, or run an earlier release with `sekisho rollback '),
  'object.metadata.name',
  celText('` (spec.pinnedRelease); to set an image yourself, first suspend the RemoteSync (`kubectl patch remotesync '),
  'params.metadata.name',
  celText(` --type merge -p '{"spec":{"suspend":true}}'\`) or delete it`),
].join(' + ')

/** For platform admins as well: what they set would be undone, too. A new Application may have an image to begin with. */
export const builtImages: PolicyRule = {
  name: 'built-images',
  stops: 'an image that a person sets and that a RemoteSync replaces by its own without a word',
  scope: 'application-namespaces',
  matches: [{ group: application.group, resources: [application.plural], operations: ['UPDATE'] }],
  param: remoteSync,
  policy: ({ controllers }) => ({
    variables: [],
    validation: {
      expression: `request.userInfo.username in ${celList(controllers)} || (${isKept}) || !(${setsItsImage})`,
      messageExpression,
    },
  }),
}
