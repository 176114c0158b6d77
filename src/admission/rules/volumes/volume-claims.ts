// PersistentVolumeClaims of tenants: the cluster chooses or makes the volume. A claim that names one, by its name, by labels or
// as a volume without a class, could be bound to a volume that an admin made for another tenant, or that another tenant left
// behind. Kubernetes' controllers make claims of templates that tenants write, so that a new claim is judged whoever makes it.
import { celList, type Rule } from '../../rule.ts'
import { choosesVolume, choosesVolumeExpression, choosingFields, namedVolume, namedVolumeExpression } from './claim-volume.ts'

const message = `a PersistentVolumeClaim in a tenant’s namespace must not set ${choosingFields}: name a StorageClass, or omit it; where a StatefulSet or an ephemeral volume makes the claim, remove the field there`

/** One controller of Kubernetes binds, and it alone sets `volumeName`, of a claim that exists. */
export const volumeClaims: Rule = {
  name: 'volume-claims',
  stops: 'binding a volume that belongs to another tenant or to the platform, and reading what is on it',
  scope: 'tenant-namespaces',
  administratorsMay: true,
  exempts: {
    volumeBinders: { does: 'sets `volumeName` of a claim that exists, to the volume that it chose', follows: [] },
  },
  matches: [{ group: '', resources: ['persistentvolumeclaims'], operations: ['CREATE', 'UPDATE'] }],
  webhookCondition: ({ volumeBinders }) => ({
    name: 'not-a-binding',
    expression: `!(request.operation == 'UPDATE' && request.userInfo.username in ${celList(volumeBinders)})`,
  }),
  check({ operation, username, object, oldObject }, { volumeBinders }) {
    const binds = operation === 'UPDATE' && volumeBinders.includes(username)
    const isNamed = namedVolume(object) !== namedVolume(oldObject)
    return (isNamed && !binds) || (choosesVolume(object) && !choosesVolume(oldObject)) ? message : undefined
  },
  policy: ({ volumeBinders }) => ({
    variables: [
      { name: 'named', expression: namedVolumeExpression('dyn(object)') },
      { name: 'namedBefore', expression: `oldObject == null ? '' : ${namedVolumeExpression('dyn(oldObject)')}` },
      { name: 'chooses', expression: choosesVolumeExpression('dyn(object)') },
      { name: 'choseBefore', expression: `oldObject != null && (${choosesVolumeExpression('dyn(oldObject)')})` },
      {
        name: 'binds',
        expression: `request.operation == 'UPDATE' && request.userInfo.username in ${celList(volumeBinders)}`,
      },
    ],
    validation: {
      expression:
        '(variables.named == variables.namedBefore || variables.binds) && (!variables.chooses || variables.choseBefore)',
      message,
    },
  }),
}
