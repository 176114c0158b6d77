// Which ServiceAccounts in tenants' namespaces are of the platform: the one list by which rules judge them.
import { builderServiceAccount } from '../../../api/dockerfile-build.ts'
import { celList, celText } from '../../rule.ts'

/** No tenant makes one whose name begins so for itself; what does is of the platform, such as `sekisho-isolated`. */
const prefix = 'sekisho-'
const names = [builderServiceAccount, 'default']

/** `default` runs pods that name no account and pulls the tenant's images; `builder` runs builds. */
export function isPlatformAccount(name: string): boolean {
  return name.startsWith(prefix) || names.includes(name)
}

/** The CEL twin of `isPlatformAccount`. */
export function isPlatformAccountExpression(name: string): string {
  return `(${name}.startsWith(${celText(prefix)}) || ${name} in ${celList(names)})`
}
