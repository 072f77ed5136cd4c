"""What can be done with uploads: start, renew, look at, finish, give up."""

from backend.domains.uploads.service.deposits import (
    Deposit,
    Deposited,
    DepositPlace,
    Deposits,
)
from backend.domains.uploads.service.finishing import Finishing
from backend.domains.uploads.service.large_files import LargeFiles
from backend.domains.uploads.service.places import Places
from backend.domains.uploads.service.renewing import RenewalService
from backend.domains.uploads.service.results import Completed
from backend.domains.uploads.service.uploading import (
    PreparedUpload,
    UploadLimits,
    UploadService,
)
from backend.domains.uploads.service.waiting_previews import WaitingPreviews

__all__ = [
    "Completed",
    "Deposit",
    "DepositPlace",
    "Deposited",
    "Deposits",
    "Finishing",
    "LargeFiles",
    "Places",
    "PreparedUpload",
    "RenewalService",
    "UploadLimits",
    "UploadService",
    "WaitingPreviews",
]
