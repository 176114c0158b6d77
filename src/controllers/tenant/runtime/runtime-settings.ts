// The settings of the RuntimeClasses of tenants that have none of their own in their Tenant.
import { runtimeClassName } from '../../../api/tenancy/runtime-classes.ts'
import { optional, type Setting, textSetting } from '../../../lib/config.ts'

function classSetting(name: string, description: string): Setting<string> & { readonly optional: true } {
  const parse = (text: string): string => {
    if (text.length <= runtimeClassName.max && new RegExp(runtimeClassName.pattern).test(text)) return text
    throw new Error(`must be the name of a RuntimeClass of at most ${runtimeClassName.max} characters, such as gvisor`)
  }
  return optional({ ...textSetting(name, description), parse })
}

export const runtimeSettings = {
  runtimeClass: classSetting(
    'SEKISHO_RUNTIME_CLASS',
    "the RuntimeClass of all pods of tenants whose Tenant names none in `spec.runtimeClass`; the nodes' own runtime when not set (docs/guide/runtime-classes.md)",
  ),
  isolatedRuntimeClass: classSetting(
    'SEKISHO_ISOLATED_RUNTIME_CLASS',
    'the RuntimeClass of the pods of isolated Applications, such as previews of forks, whose Tenant names none in `spec.isolatedRuntimeClass`; that of other pods when not set',
  ),
  buildRuntimeClass: classSetting(
    'SEKISHO_BUILD_RUNTIME_CLASS',
    'the RuntimeClass of the builds of tenants whose Tenant names none in `spec.buildRuntimeClass`; that of other pods when not set',
  ),
} as const
