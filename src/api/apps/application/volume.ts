// A volume of an Application: a PersistentVolumeClaim, the processes that mount it, and what deletion does with its content.
// Source: https://kubernetes.io/docs/concepts/storage/persistent-volumes/
import { bytes, celQuantity } from '../../schema/quantity.ts'
import { choice, list, object, optional, text } from '../../schema/schema.ts'
import { nameField } from './process.ts'

/** Paths that belong to the container, or that the platform mounts. */
const reservedPaths = "['/', '/tmp', '/proc', '/sys', '/dev']"

/** One entry of `spec.volumes`. */
export const volumeField = object(
  {
    name: nameField('The name of the volume.'),
    size: bytes({
      description:
        'The size, such as `10Gi`. It can be raised when the storage class allows it, and never lowered. It counts against the quota of the namespace.',
    }),
    storageClass: optional(
      text({
        description:
          'The name of a StorageClass of the cluster. The default class of the cluster when omitted. It cannot change: add another volume and copy.',
        max: 253,
        pattern: '^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$',
      }),
    ),
    accessMode: choice(['ReadWriteOnce', 'ReadWriteMany'], {
      description:
        'Whether one process with at most one pod mounts the volume (`ReadWriteOnce`; it is stopped before its next version starts), or any number (`ReadWriteMany`, which few storage classes support).',
      default: 'ReadWriteOnce',
    }),
    path: text({
      description: 'Where the processes find the volume, such as `/data`.',
      max: 512,
      pattern: '^(/[A-Za-z0-9_.-]+)+$',
      rules: [
        {
          rule: `!(self in ${reservedPaths}) && !self.startsWith('/proc/') && !self.startsWith('/sys/') && !self.startsWith('/dev/') && !self.split('/').exists(part, part == '..' || part == '.')`,
          message:
            'must not be /tmp, /proc, /sys or /dev, nor contain . or .. as a part: choose a folder of its own, such as /data',
        },
      ],
    }),
    processes: optional(
      list(nameField('The name of a process.'), {
        description: 'The processes that mount the volume. When omitted: `web`.',
        min: 1,
        max: 10,
        unique: 'set',
      }),
    ),
    whenDeleted: choice(['Keep', 'Delete'], {
      description:
        'What happens to the content when this entry is removed or the Application is deleted. `Keep`: the PersistentVolumeClaim stays, an entry or an Application of the same name finds its content again, and `kubectl delete pvc` deletes it. `Delete`: it is deleted at once.',
      default: 'Keep',
    }),
  },
  {
    description: 'One volume, whose content outlives pods.',
    rules: [
      {
        rule: `${celQuantity('self.size')}.compareTo(${celQuantity('oldSelf.size')}) >= 0`,
        message: 'a volume never shrinks: set size to at least what it was, or add another volume and copy',
        fieldPath: '.size',
      },
      {
        rule: 'has(self.storageClass) == has(oldSelf.storageClass) && (!has(self.storageClass) || self.storageClass == oldSelf.storageClass) && self.accessMode == oldSelf.accessMode',
        message: 'storageClass and accessMode of a volume cannot change: add another volume and copy',
        fieldPath: '.storageClass',
      },
      {
        rule: "self.accessMode == 'ReadWriteMany' || !has(self.processes) || size(self.processes) == 1",
        message: 'one process mounts a ReadWriteOnce volume: name one, or use a storage class with accessMode ReadWriteMany',
        fieldPath: '.processes',
      },
    ],
  },
)
