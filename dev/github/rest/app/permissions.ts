// Reads the `permissions` of a body: names to levels. It never decides whether they are granted.
import { type PermissionLevel, type Permissions, permissionLevels } from '../../state/apps.ts'
import { RestError } from '../protocol/answer.ts'

function levelOf(name: string, value: unknown): PermissionLevel {
  const level = permissionLevels.find(one => one === value)
  if (level === undefined || level === 'none') {
    throw new RestError(
      422,
      `Invalid request.\n\nInvalid value for permissions.${name.slice(0, 60)}: must be one of read, write, admin.`,
    )
  }
  return level
}

/** The permissions of a body; 422 for a level that does not exist. */
export function permissionsOf(record: Readonly<Record<string, unknown>> | undefined): Permissions | undefined {
  return record && Object.fromEntries(Object.entries(record).map(([name, value]) => [name, levelOf(name, value)]))
}
