// The file of the closed tenant roles: one line for each rule, and at its top what the roles leave out.
import { stringify } from 'yaml'
import { leftOut, tenantRoleRules } from '../../src/api/tenancy/tenant-roles.ts'

const intro = `The closed roles of tenants. Every resource and verb is named; nothing aggregates into them and there is no wildcard.

What is not here, and why:
${leftOut}`

/** The ClusterRoles as YAML documents, without the banner. */
export function tenantRolesYaml(): string {
  const comment = intro.split('\n').map(line => `# ${line}`.trimEnd())
  const documents = [...tenantRoleRules()].map(([name, rules]) => {
    const metadata = { name, labels: { 'app.kubernetes.io/part-of': 'sekisho' } }
    const head = stringify({ apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', metadata })
    const lines = rules.map(rule => `- ${stringify(rule, { collectionStyle: 'flow', lineWidth: 0 })}`)
    return `${head}rules:\n${lines.join('')}`
  })
  return `${comment.join('\n')}\n${documents.join('---\n')}`
}
