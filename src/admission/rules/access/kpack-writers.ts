// kpack builds whatever its objects name, with the credentials of the ServiceAccount that they name: from any source, into any
// place that the account may push to, with any Secret as a service binding. In tenants' namespaces only the platform makes them.
// Source: https://github.com/buildpacks-community/kpack/blob/main/docs/build.md
import { sameJson } from '../../../lib/json/same-json.ts'
import { celList, type Rule } from '../../rule.ts'
import { reaping } from '../kinds/writers.ts'

const message = 'only the platform makes objects of kpack in namespaces of tenants: create a RemoteSync'

/** For everybody but the controllers, platform admins, and Kubernetes' reapers. kpack itself changes status and metadata. */
export const kpackWriters: Rule = {
  name: 'kpack-writers',
  stops: 'a build of one’s own, from any source and with the credentials of the platform’s builds',
  scope: 'tenant-namespaces',
  administratorsMay: true,
  exempts: reaping,
  matches: [
    {
      group: 'kpack.io',
      resources: ['builds', 'images', 'builders', 'sourceresolvers'],
      operations: ['CREATE', 'UPDATE', 'DELETE'],
    },
  ],
  // The platform and the end of a namespace do not wait for the webhook.
  webhookCondition: ({ controllers, reapers }) => ({
    name: 'not-by-the-platform',
    expression: `!(request.userInfo.username in ${celList(controllers)} || (request.operation == 'DELETE' && request.userInfo.username in ${celList(reapers)}))`,
  }),
  check({ username, operation, object, oldObject }, { controllers, reapers }) {
    if (controllers.includes(username)) return undefined
    if (operation === 'UPDATE' && sameJson(object?.['spec'], oldObject?.['spec'])) return undefined
    return operation === 'DELETE' && reapers.includes(username) ? undefined : message
  },
  policy: ({ controllers, reapers }) => ({
    variables: [],
    validation: {
      expression: [
        `request.userInfo.username in ${celList(controllers)}`,
        "(request.operation == 'UPDATE' && dyn(object).?spec == dyn(oldObject).?spec)",
        `(request.operation == 'DELETE' && request.userInfo.username in ${celList(reapers)})`,
      ].join(' || '),
      message,
    },
  }),
}
