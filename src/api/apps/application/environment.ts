// Where the environment variables of an Application come from: plain values, keys of ConfigMaps, and keys of AppSecrets.
import { objectName } from '../../schema/fields.ts'
import { exactlyOneOf, list, object, optional, text } from '../../schema/schema.ts'

const keyField = text({ description: 'The key in it.', max: 253, pattern: '^[-._a-zA-Z0-9]+$' })

const fromField = object(
  {
    configMap: optional(
      object(
        { name: objectName('The name of a ConfigMap in the same namespace.'), key: keyField },
        { description: 'The value of a key of a ConfigMap.' },
      ),
    ),
    secret: optional(
      object(
        { name: objectName('The name of an AppSecret in the same namespace.'), key: keyField },
        { description: 'The value of a key of an AppSecret.' },
      ),
    ),
  },
  {
    description: 'Where the value comes from.',
    rules: [exactlyOneOf(['configMap', 'secret'], 'set exactly one of configMap and secret')],
  },
)

/** `spec.env`. */
export const applicationEnvironmentField = list(
  object(
    {
      name: text({ description: 'The name, such as `LOG_LEVEL`.', max: 256, pattern: '^[A-Za-z_][A-Za-z0-9_]*$' }),
      value: optional(
        text({
          description:
            'The value. Do not put secrets here: everybody who can read this object can read it. Use `from.secret` for them.',
          min: 0,
          max: 4096,
        }),
      ),
      from: optional(fromField),
    },
    { description: 'One environment variable.', rules: [exactlyOneOf(['value', 'from'], 'set exactly one of value and from')] },
  ),
  {
    description:
      'Environment variables of every process. `PORT` and `SEKISHO_COMMIT` are set by the platform and cannot be overridden.',
    max: 200,
    unique: ['name'],
  },
)

/** `spec.envFrom`. */
export const environmentSourcesField = list(
  object(
    {
      configMap: optional(objectName('The name of a ConfigMap in the same namespace.')),
      secret: optional(objectName('The name of an AppSecret in the same namespace.')),
    },
    {
      description: 'A ConfigMap or an AppSecret, each key of which becomes an environment variable.',
      rules: [exactlyOneOf(['configMap', 'secret'], 'set exactly one of configMap and secret')],
    },
  ),
  {
    description:
      'ConfigMaps and AppSecrets whose keys become environment variables of every process. A later entry wins over an earlier one, and `env` over all.',
    max: 20,
  },
)
