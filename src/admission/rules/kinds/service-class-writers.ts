// ServiceClasses are written by platform admins: a class says to which server the platform takes its password, and which
// addresses the pods of tenants reach.
import { serviceClass } from '../../../api/services/service-class.ts'
import type { Rule } from '../../rule.ts'
import { onlyWrittenBy } from './writers.ts'

const message = 'only platform admins write ServiceClasses: ask one of them'

/** Platform admins write; data-services and Kubernetes' reapers maintain. */
export const serviceClassWriters: Rule = {
  name: 'service-class-writers',
  stops: 'sending the password of a server of the platform to another server, or opening other addresses to pods',
  scope: 'everywhere',
  administratorsMay: true,
  matches: [{ group: serviceClass.group, resources: [serviceClass.plural], operations: ['CREATE', 'UPDATE', 'DELETE'] }],
  ...onlyWrittenBy(
    () => [],
    message,
    ({ dataServices }) => dataServices,
  ),
}
