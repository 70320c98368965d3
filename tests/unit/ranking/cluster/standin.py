"""A stand-in for Ray that runs tasks at once, in this process, and loses some of them."""

import pickle
from types import SimpleNamespace


class RayError(Exception):
    pass


class RaySystemError(RayError):
    pass


class RayTaskError(RayError):
    def __init__(self, cause):
        super().__init__(str(cause))
        self.cause = cause


class WorkerCrashedError(RayError):
    pass


class exceptions:  # noqa: N801
    RayError, RaySystemError, RayTaskError = RayError, RaySystemError, RayTaskError
    WorkerCrashedError = WorkerCrashedError


class Ray:
    """Runs each task when it is begun; `lose(number, job)` says which of them are lost with their machine."""

    exceptions = exceptions
    head = ""  # its address

    def __init__(self, cores=2, gpus=0, lose=lambda number, job: False):
        self.resources = {"CPU": cores, "GPU": gpus}
        self.lose, self.jobs, self.most = lose, [], 0
        self._ended, self._flying = {}, set()

    def cluster_resources(self):
        return self.resources

    def get_runtime_context(self):
        return SimpleNamespace(gcs_address=self.head)

    def remote(self, **options):
        self.options = options
        return lambda function: _Task(self, function)

    def begin(self, function, *arguments):
        number = len(self.jobs)
        arguments = pickle.loads(pickle.dumps(arguments))  # as it travels
        self.jobs.append(arguments[0])
        try:
            if self.lose(number, arguments[0]):
                raise WorkerCrashedError("the machine was lost")
            self._ended[number] = function(*arguments)
        except WorkerCrashedError as error:
            self._ended[number] = error
        except Exception as error:
            self._ended[number] = RayTaskError(error)
        self._flying.add(number)
        self.most = max(self.most, len(self._flying))
        return number

    def wait(self, references, num_returns=1, timeout=None):
        newest = sorted(references, reverse=True)[:num_returns]  # tasks end in any order
        return newest, [number for number in references if number not in newest]

    def get(self, reference):
        self._flying.discard(reference)
        found = self._ended[reference]
        if isinstance(found, Exception):
            raise found
        return found

    def cancel(self, reference, force=False):
        self._flying.discard(reference)


class _Task:
    def __init__(self, ray, function):
        self.ray, self.function = ray, function

    def remote(self, *arguments):
        return self.ray.begin(self.function, *arguments)
