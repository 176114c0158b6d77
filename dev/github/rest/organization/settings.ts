// Owns: the routes that change or end an organization, and the list of Apps that are installed on it. The login is not changed here:
// GitHub does that on a page. https://docs.github.com/en/rest/orgs/orgs
import { deleteOrganization } from '../../actions/people/organizations.ts'
import { fullOrganization } from '../../views/account.ts'
import { installationView } from '../../views/app.ts'
import { accepted, ok, type RestAnswer } from '../protocol/answer.ts'
import { fieldsOf } from '../protocol/body.ts'
import { paged } from '../protocol/page.ts'
import { type OrganizationCall, organizationRoute, type RestRoute, writerOf } from '../route.ts'

const update = (call: OrganizationCall): RestAnswer => {
  const { context, organization } = call
  const fields = fieldsOf(call.body, 'Organization')
  const name = fields.optionalText('name', 100)
  const description = fields.optionalText('description', 160)
  const basePermission = fields.optionalOneOf('default_repository_permission', ['none', 'read', 'write', 'admin'] as const)
  context.store.change(() => {
    organization.name = name ?? organization.name
    organization.description = description ?? organization.description
    organization.basePermission = basePermission ?? organization.basePermission
  })
  return ok(fullOrganization(context, organization))
}

const installations = ({ context, organization, paging }: OrganizationCall): RestAnswer =>
  paged(
    paging,
    context.world.installations.filter(one => one.accountId === organization.id),
    one => installationView(context, one),
    (page, total) => ({ total_count: total, installations: page }),
  )

const reading = { permission: 'organization_administration', level: 'read' } as const
const writing = { permission: 'organization_administration', level: 'write' } as const

export const organizationSettingRoutes: readonly RestRoute[] = [
  organizationRoute(writing, { method: 'PATCH', path: '/orgs/{org}', handle: update }),
  organizationRoute(writing, {
    method: 'DELETE',
    path: '/orgs/{org}',
    handle: async call => {
      await deleteOrganization(call.context, call.organization, writerOf(call))
      return accepted({})
    },
  }),
  organizationRoute(reading, { method: 'GET', path: '/orgs/{org}/installations', handle: installations }),
]
