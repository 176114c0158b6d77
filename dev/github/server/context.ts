// Everything that the surfaces of the emulator need together.
import type { ControlContext } from '../control/routes.ts'
import type { RestContext } from '../rest/context.ts'

export type ServerContext = RestContext & ControlContext
